//! Module scope: directives, variables with initializers, entries and functions.

use super::cursor::Cursor;
use super::error::{ParseErrorKind, Result};
use super::function::FnState;
use crate::ir::*;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Maximum size of a variable, in bytes.
const MAX_VARIABLE: u64 = 1 << 36;

pub(crate) struct Parser<'s> {
    pub c: Cursor<'s>,
    pub module: Module,
    pub globals: FxHashMap<&'s str, Symbol>,
}

pub(crate) fn parse_module(text: &str) -> Result<Module> {
    let mut c = Cursor::new(text);
    if text.len() >= u32::MAX as usize {
        return Err(c.error(ParseErrorKind::TooLarge));
    }
    if !c.eat_directive("version") {
        return c.expected("'.version'");
    }
    let module = Module {
        id: next_id(),
        version: (0, 0),
        target: String::new(),
        address_size: 64,
        variables: Vec::new(),
        functions: Vec::new(),
        source: Arc::from(text),
    };
    let mut parser = Parser { c, module, globals: FxHashMap::default() };
    parser.version()?;
    while !parser.c.at_end() {
        parser.item()?;
    }
    Ok(parser.module)
}

impl<'s> Parser<'s> {
    fn version(&mut self) -> Result<()> {
        self.c.skip_space();
        let major = self.c.name_or_digits("a version")?;
        self.c.expect(b'.')?;
        let minor = self.c.name_or_digits("a version")?;
        match (major.parse(), minor.parse()) {
            (Ok(a), Ok(b)) => self.module.version = (a, b),
            _ => return Err(self.c.error(ParseErrorKind::BadNumber(format!("{major}.{minor}")))),
        }
        Ok(())
    }

    fn item(&mut self) -> Result<()> {
        let mut linkage = Linkage::Internal;
        loop {
            let at = self.c.pos();
            // A stray semicolon or a table of debug line information is harmless.
            if self.c.eat(b';') {
                return Ok(());
            }
            let Some(word) = self.c.try_directive() else {
                if let Some(name) = self.c.try_name() {
                    return Err(self.c.error_at(
                        at,
                        ParseErrorKind::Expected { expected: "a directive".into(), found: format!("'{name}'") },
                    ));
                }
                return self.c.expected("a directive");
            };
            match word {
                "visible" => linkage = Linkage::Visible,
                "extern" => linkage = Linkage::Extern,
                "weak" => linkage = Linkage::Weak,
                "common" => linkage = Linkage::Common,
                "target" => return self.target(),
                "address_size" => {
                    self.module.address_size = self.c.small("an address size")?;
                    if self.module.address_size != 64 {
                        return Err(self.c.error_at(at, ParseErrorKind::Unsupported("32-bit addresses".into())));
                    }
                    return Ok(());
                }
                "entry" => return self.function(true, linkage),
                "func" => return self.function(false, linkage),
                "global" => return self.module_variable(Space::Global, linkage),
                "const" => return self.module_variable(Space::Const, linkage),
                "shared" => return self.module_variable(Space::Shared, linkage),
                "file" | "loc" => {
                    self.c.skip_line();
                    return Ok(());
                }
                "section" => return self.section(),
                "pragma" => return self.pragma(),
                "alias" => {
                    let new = self.c.name("a name")?;
                    self.c.expect(b',')?;
                    let old = self.c.name("a name")?;
                    match self.globals.get(old) {
                        Some(symbol @ Symbol::Function(_)) => {
                            let symbol = *symbol;
                            self.globals.insert(new, symbol);
                        }
                        _ => return Err(self.c.error(ParseErrorKind::Undefined(old.into()))),
                    }
                    return self.c.expect(b';');
                }
                _ => return Err(self.c.error_at(at, ParseErrorKind::UnknownDirective(word.into()))),
            }
        }
    }

    fn target(&mut self) -> Result<()> {
        loop {
            let name = self.c.name("a target")?;
            if self.module.target.is_empty() {
                self.module.target = name.into();
            }
            if !self.c.eat(b',') {
                return Ok(());
            }
        }
    }

    pub fn section(&mut self) -> Result<()> {
        self.c.skip_space();
        if self.c.try_modifier().is_none() {
            self.c.name("a section name")?;
        }
        if self.c.peek() == b'{' {
            self.c.skip_braces()?;
        }
        Ok(())
    }

    pub fn pragma(&mut self) -> Result<()> {
        loop {
            self.c.string()?;
            if !self.c.eat(b',') {
                return self.c.expect(b';');
            }
        }
    }

    fn module_variable(&mut self, space: Space, linkage: Linkage) -> Result<()> {
        for (name, mut variable) in self.variables(space, None)? {
            variable.linkage = linkage;
            let symbol = Symbol::Module(self.module.variables.len() as u32);
            if let Some(Symbol::Module(old)) = self.globals.get(name).copied() {
                // A definition may follow an `extern` declaration.
                let slot = &mut self.module.variables[old as usize];
                if slot.linkage != Linkage::Extern && linkage != Linkage::Extern {
                    return Err(self.c.error(ParseErrorKind::Redefined(name.into())));
                }
                if slot.linkage == Linkage::Extern {
                    *slot = variable;
                }
                continue;
            }
            self.globals.insert(name, symbol);
            self.module.variables.push(variable);
        }
        Ok(())
    }

    /// Parses a type directive such as `.b32`.
    pub fn type_directive(&mut self) -> Result<Type> {
        self.c.skip_space();
        let at = self.c.pos();
        match self.c.try_directive() {
            Some(word) => {
                Type::parse(word).ok_or_else(|| self.c.error_at(at, ParseErrorKind::UnknownDirective(word.into())))
            }
            None => self.c.expected("a type"),
        }
    }

    /// Parses `.align N .v4 .type name[dims] = init, ...;` after the space directive.
    pub fn variables(&mut self, space: Space, f: Option<&FnState<'s>>) -> Result<Vec<(&'s str, Variable)>> {
        let mut align = 0u64;
        let mut lanes = 1u64;
        let ty = loop {
            let at = self.c.pos();
            let Some(word) = self.c.try_directive() else { return self.c.expected("a type") };
            match word {
                "align" => {
                    align = u64::from(self.c.small("an alignment")?);
                    if !align.is_power_of_two() {
                        return Err(self
                            .c
                            .error_at(at, ParseErrorKind::BadValue("alignment is not a power of two".into())));
                    }
                }
                "attribute" => {
                    self.c.expect(b'(')?;
                    while !self.c.eat(b')') {
                        if self.c.try_directive().is_none() && self.c.try_name().is_none() && !self.c.eat(b',') {
                            if self.c.at_number() {
                                self.c.number()?;
                            } else {
                                return self.c.expected("an attribute");
                            }
                        }
                    }
                }
                "v2" => lanes = 2,
                "v4" => lanes = 4,
                "texref" | "samplerref" | "surfref" => {
                    return Err(self.c.error_at(at, ParseErrorKind::Unsupported(format!(".{word} variables"))));
                }
                _ => match Type::parse(word) {
                    Some(ty) => break ty,
                    None => return Err(self.c.error_at(at, ParseErrorKind::UnknownDirective(word.into()))),
                },
            }
        };
        let element = u64::from(ty.bytes());
        let mut out = Vec::new();
        loop {
            let name = self.c.name("a variable name")?;
            let mut count = Some(lanes);
            while self.c.eat(b'[') {
                if self.c.eat(b']') {
                    count = None;
                    continue;
                }
                let n = u64::from(self.c.small("an array extent")?);
                self.c.expect(b']')?;
                count = count.and_then(|c| c.checked_mul(n));
            }
            let mut size = count.and_then(|c| c.checked_mul(element));
            if size.is_some_and(|s| s > MAX_VARIABLE) {
                return Err(self.c.error(ParseErrorKind::BadValue("variable too large".into())));
            }
            let mut init = Vec::new();
            if self.c.eat(b'=') {
                let mut offset = 0;
                self.initialiser(ty, &mut offset, &mut init, f, 0)?;
                // An array of unknown extent takes the extent of its initializer.
                size = size.or(Some(offset));
                if size.is_some_and(|s| offset > s) {
                    return Err(self
                        .c
                        .error(ParseErrorKind::BadValue("initialiser is longer than the variable".into())));
                }
            }
            let variable = Variable {
                name: name.into(),
                linkage: Linkage::Internal,
                space,
                ty,
                align: align.max(element * lanes),
                size,
                init,
            };
            out.push((name, variable));
            if !self.c.eat(b',') {
                break;
            }
        }
        self.c.expect(b';')?;
        Ok(out)
    }

    fn initialiser(
        &mut self,
        ty: Type,
        offset: &mut u64,
        out: &mut Vec<InitPiece>,
        f: Option<&FnState<'s>>,
        depth: usize,
    ) -> Result<()> {
        if depth > 8 {
            return Err(self.c.error(ParseErrorKind::BadValue("initialiser nested too deeply".into())));
        }
        if self.c.eat(b'{') {
            if self.c.eat(b'}') {
                return Ok(());
            }
            loop {
                self.initialiser(ty, offset, out, f, depth + 1)?;
                if self.c.eat(b'}') {
                    return Ok(());
                }
                self.c.expect(b',')?;
            }
        }
        let value = self.init_value(ty, f)?;
        out.push(InitPiece { offset: *offset, bytes: ty.bytes(), value });
        *offset += u64::from(ty.bytes());
        Ok(())
    }

    fn init_value(&mut self, ty: Type, f: Option<&FnState<'s>>) -> Result<InitValue> {
        let mut mask = None;
        if self.c.at_number() {
            let imm = super::operands::imm_for(ty, self.c.number()?);
            if !self.c.eat(b'(') {
                return Ok(InitValue::Bits(imm.bits()));
            }
            mask = Some(imm.bits());
        }
        let at = self.c.pos();
        let mut name = self.c.name("an initialiser")?;
        let generic = name == "generic";
        if generic {
            self.c.expect(b'(')?;
            name = self.c.name("a symbol")?;
        }
        let mut addend = self.addend()?;
        if generic {
            self.c.expect(b')')?;
            addend = addend.wrapping_add(self.addend()?);
        }
        if mask.is_some() {
            self.c.expect(b')')?;
        }
        let symbol = f.and_then(|f| f.symbol(name)).or_else(|| self.globals.get(name).copied());
        match symbol {
            Some(symbol) => Ok(InitValue::Address { symbol, addend, generic, mask }),
            None => Err(self.c.error_at(at, ParseErrorKind::Undefined(name.into()))),
        }
    }

    fn addend(&mut self) -> Result<i64> {
        if !matches!(self.c.peek(), b'+' | b'-') {
            return Ok(0);
        }
        let saved = self.c.save();
        if self.c.eat(b'+') {
            if let Ok(Imm::Int(v)) = self.c.number() {
                return Ok(v as i64);
            }
        } else if let Ok(Imm::Int(v)) = self.c.number() {
            return Ok(v as i64);
        }
        self.c.restore(saved);
        self.c.expected("an integer")
    }

    /// Parses `(param, ...)` of a function; the opening parenthesis must be next.
    fn params(&mut self, f: &mut FnState<'s>, results: bool) -> Result<Vec<Param>> {
        let mut out = Vec::new();
        self.c.expect(b'(')?;
        if self.c.eat(b')') {
            return Ok(out);
        }
        loop {
            let (name, mut param) = self.param()?;
            if let Some(name) = name {
                if param.space == Space::Reg {
                    param.register = Some(f.declare_register(&self.c, name, param.ty)?);
                } else {
                    let index = out.len() as u32;
                    f.declare_symbol(name, if results { Symbol::Result(index) } else { Symbol::Param(index) });
                }
            }
            out.push(param);
            if self.c.eat(b')') {
                return Ok(out);
            }
            self.c.expect(b',')?;
        }
    }

    fn param(&mut self) -> Result<(Option<&'s str>, Param)> {
        let mut space = None;
        let mut align = 0u64;
        let mut pointer = false;
        let ty = loop {
            self.c.skip_space();
            let at = self.c.pos();
            let Some(word) = self.c.try_directive() else { return self.c.expected("a parameter") };
            match word {
                "param" if space.is_none() => space = Some(Space::Param),
                "reg" if space.is_none() => space = Some(Space::Reg),
                "align" => {
                    align = u64::from(self.c.small("an alignment")?);
                    if !align.is_power_of_two() {
                        return Err(self
                            .c
                            .error_at(at, ParseErrorKind::BadValue("alignment is not a power of two".into())));
                    }
                }
                "ptr" => pointer = true,
                _ => match Type::parse(word) {
                    Some(ty) => break ty,
                    None => return Err(self.c.error_at(at, ParseErrorKind::UnknownDirective(word.into()))),
                },
            }
        };
        // `.ptr .space .align N` follows the type; this alignment applies to the pointee.
        while self.c.peek() == b'.' {
            let at = self.c.pos();
            match self.c.try_directive() {
                Some("ptr") => pointer = true,
                Some("global" | "shared" | "const" | "local") if pointer => {}
                Some("align") => {
                    self.c.small("an alignment")?;
                }
                word => return Err(self.c.error_at(at, ParseErrorKind::UnknownDirective(word.unwrap_or("").into()))),
            }
        }
        let name = self.c.try_name();
        let mut size = u64::from(ty.bytes());
        while self.c.eat(b'[') {
            let n = if self.c.peek() == b']' { 0 } else { u64::from(self.c.small("an array extent")?) };
            self.c.expect(b']')?;
            size = size
                .checked_mul(n)
                .filter(|s| *s <= 1 << 20)
                .ok_or_else(|| self.c.error(ParseErrorKind::BadValue("parameter too large".into())))?;
        }
        let param = Param {
            name: name.unwrap_or("_").into(),
            space: space.unwrap_or(Space::Param),
            ty,
            align: align.max(u64::from(ty.bytes())),
            size,
            register: None,
            pointer,
        };
        Ok((name.filter(|n| *n != "_"), param))
    }

    /// Parses the result and parameter sizes of a `.callprototype`.
    pub fn prototype(&mut self) -> Result<TargetTableKind> {
        let sizes = |this: &mut Self| -> Result<Vec<u64>> {
            let mut out = Vec::new();
            if this.c.eat(b'(') && !this.c.eat(b')') {
                loop {
                    out.push(this.param()?.1.size);
                    if this.c.eat(b')') {
                        break;
                    }
                    this.c.expect(b',')?;
                }
            }
            Ok(out)
        };
        let results = sizes(self)?;
        self.c.name("'_'")?;
        let params = sizes(self)?;
        self.c.eat_directive("noreturn");
        if self.c.eat_directive("abi_preserve") || self.c.eat_directive("abi_preserve_control") {
            self.c.small("a register count")?;
        }
        Ok(TargetTableKind::Prototype { results, params })
    }

    fn dims(&mut self) -> Result<[u32; 3]> {
        let mut out = [self.c.small("a dimension")?, 1, 1];
        for dim in &mut out[1..] {
            if !self.c.eat(b',') {
                break;
            }
            *dim = self.c.small("a dimension")?;
        }
        Ok(out)
    }

    fn function(&mut self, is_entry: bool, linkage: Linkage) -> Result<()> {
        let function = Function {
            name: String::new(),
            is_entry,
            linkage,
            defined: false,
            results: Vec::new(),
            params: Vec::new(),
            directives: Directives::default(),
            registers: Vec::new(),
            variables: Vec::new(),
            body: Vec::new(),
            labels: Vec::new(),
            tables: Vec::new(),
        };
        let mut f = FnState::new(function);
        if self.c.peek() == b'.' && self.c.eat_directive("attribute") {
            while !self.c.eat(b')') {
                if !self.c.eat(b'(')
                    && self.c.try_directive().is_none()
                    && self.c.try_name().is_none()
                    && !self.c.eat(b',')
                {
                    return self.c.expected("')'");
                }
            }
        }
        if self.c.peek() == b'(' {
            f.function.results = self.params(&mut f, true)?;
        }
        self.c.skip_space();
        let at = self.c.pos();
        let name = self.c.name("a function name")?;
        f.function.name = name.into();
        if self.c.peek() == b'(' {
            f.function.params = self.params(&mut f, false)?;
        }
        self.function_directives(&mut f)?;
        // The symbol must exist before the body, so that the function can call itself.
        let index = match self.globals.get(name) {
            Some(Symbol::Function(index)) => *index,
            Some(_) => return Err(self.c.error_at(at, ParseErrorKind::Redefined(name.into()))),
            None => {
                let index = self.module.functions.len() as u32;
                self.module.functions.push(f.function.clone());
                self.globals.insert(name, Symbol::Function(index));
                index
            }
        };
        if self.c.eat(b';') {
            return Ok(());
        }
        if self.module.functions[index as usize].defined {
            return Err(self.c.error_at(at, ParseErrorKind::Redefined(name.into())));
        }
        f.function.defined = true;
        self.c.expect(b'{')?;
        self.body(&mut f)?;
        let function = f.finish(&self.c)?;
        self.module.functions[index as usize] = function;
        Ok(())
    }

    fn function_directives(&mut self, f: &mut FnState<'s>) -> Result<()> {
        while self.c.peek() == b'.' {
            let at = self.c.pos();
            let word = self.c.try_directive().unwrap_or("");
            match word {
                "reqntid" => f.function.directives.reqntid = Some(self.dims()?),
                "maxntid" => f.function.directives.maxntid = Some(self.dims()?),
                "minnctapersm" => f.function.directives.minnctapersm = Some(self.c.small("a count")?),
                "maxnctapersm" => {
                    self.c.small("a count")?;
                }
                "maxnreg" => f.function.directives.maxnreg = Some(self.c.small("a count")?),
                "reqnctapercluster" => f.function.directives.reqnctapercluster = Some(self.dims()?),
                "maxclusterrank" => f.function.directives.maxclusterrank = Some(self.c.small("a count")?),
                "explicitcluster" => f.function.directives.explicitcluster = true,
                "blocksareclusters" => f.function.directives.blocksareclusters = true,
                "noreturn" => f.function.directives.noreturn = true,
                "abi_preserve" | "abi_preserve_control" => {
                    self.c.small("a register count")?;
                }
                "pragma" => self.pragma()?,
                "loc" | "file" => self.c.skip_line(),
                _ => return Err(self.c.error_at(at, ParseErrorKind::UnknownDirective(word.into()))),
            }
        }
        Ok(())
    }
}
