//! Calls of library functions, whose implementation has been chosen.

use super::Translator;
use crate::dialect::{
    attributes::LIBRARY_CALL,
    cuda_tile as ct, nv_tileaa as aa,
    pass::{Failed, fail},
    rt::*,
};
use melior::ir::{Attribute, AttributeLike};
use mlir_sys::mlirDictionaryAttrGetElementByName;

impl<'c> Translator<'c> {
    pub(super) fn library_call(&mut self, o: ct::PreviewCallOp<'c>) -> Result<(), Failed> {
        let op = o.op();
        let Some(chosen) = LIBRARY_CALL.get(op) else {
            return Err(fail(op, "the called function has no implementation: no library has been linked"));
        };
        let field = |name: &str| {
            // SAFETY: the attribute is alive; a wrong one is rejected before the lookup.
            let found = unsafe {
                let dictionary = mlir_sys::mlirAttributeIsADictionary(chosen.to_raw());
                if !dictionary {
                    return Err(fail(op, format!("'{LIBRARY_CALL}' is not a dictionary")));
                }
                Attribute::from_option_raw(mlirDictionaryAttrGetElementByName(chosen.to_raw(), raw_str(name)))
            };
            found.ok_or_else(|| fail(op, format!("'{LIBRARY_CALL}' lacks '{name}'")))
        };
        let is_token = |v: &Val<'c>| ct::TokenType::cast(ty(*v)).is_some();
        let (tokens, tiles): (Vec<Val<'c>>, Vec<Val<'c>>) = operands(op).partition(is_token);
        let tokens = self.get_all(tokens);
        let token = match tokens[..] {
            [] => None,
            [one] => Some(one),
            _ => Some(self.built(aa::JoinMemTokenOp::build(&self.b, self.token, &tokens))?.result()),
        };
        let args = self.get_all(tiles);
        let (tokens, values): (Vec<Val<'c>>, Vec<Val<'c>>) = results(op).partition(is_token);
        let types = values.iter().map(|v| self.result_type(*v)).collect::<Result<Vec<_>, _>>()?;
        let new = self.built(aa::ExternCallOp::build(
            &self.b,
            &types,
            self.token,
            &args,
            token,
            field("symbol")?,
            field("fragments")?,
            field("access")?,
            field("scratchSize")?,
            field("scratchAlignment")?,
            field("synchronization")?,
        ))?;
        for (old, new) in values.into_iter().zip(new.results()) {
            self.set(old, new);
        }
        tokens.into_iter().for_each(|old| self.set(old, new.result_token()));
        Ok(())
    }
}
