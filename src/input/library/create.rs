//! Makes a library from an interface and implementations, with the messages of the command that exists.

use crate::file::{LibraryError, foreign, module, write};
use tile_bytecode::{LibraryFunction, is_bytecode};

/// The reasons for which there is no library.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CreateError {
    #[error("must provide tile IR bytecode for tile lib interface file")]
    InterfaceIsNotBytecode,
    #[error("tile library interface may only contain extern cuda_tile.experimental$func declarations, found '{0}'")]
    NotADeclaration(&'static str),
    #[error(
        "interface-only tile libraries are not allowed; you must provide an implementation either as a dynamic library \
         (implementation provider), or as static code files; providing only an interface file is not allowed"
    )]
    InterfaceOnly,
    #[error(
        "tile library declares implementations that nothing defines; accompany the Tile IR bytecode with the \
         pre-compiled code that defines its extern_impl symbols (LTOIR, cubin, or fatbin)"
    )]
    NoCode,
    #[error(
        "must provide either an implementation-provider shared library or a static implementation catalog with the \
         static implementation artifacts"
    )]
    NoCatalogue,
    #[error(
        "implementation files must be one of two options: (1) a Tile IR bytecode file describing the implementation \
         (with extern_impl) plus the pre-compiled code that defines it (LTOIR, cubin, or fatbin); or (2) an \
         implementation-provider shared library (.so/.dll)"
    )]
    Options,
    #[error("implementation providers are not supported: their interface is not public")]
    Provider,
    #[error("{0}")]
    Library(#[from] LibraryError),
}

/// Makes the file of a library. The code is not examined.
///
/// # Errors
///
/// The interface has something else than declarations, or there is not one catalogue and one file of code.
pub fn create(interface: &[u8], implementations: &[Vec<u8>]) -> Result<Vec<u8>, CreateError> {
    if !is_bytecode(interface) {
        return Err(CreateError::InterfaceIsNotBytecode);
    }
    let declared = module("interface", interface)?;
    for (i, _) in declared.functions.iter().enumerate() {
        match declared.library_function(i) {
            Some(LibraryFunction::Extern(_)) => {}
            Some(LibraryFunction::Implementation(_)) => {
                return Err(CreateError::NotADeclaration("cuda_tile.preview$extern_impl"));
            }
            None => return Err(CreateError::NotADeclaration("cuda_tile.entry")),
        }
    }
    let is_provider = |data: &&Vec<u8>| data.starts_with(b"\x7fELF") && data.get(16..18) == Some(&[3, 0]);
    if implementations.iter().any(|data| is_provider(&data)) {
        return Err(CreateError::Provider);
    }
    let catalogues = implementations.iter().filter(|data| is_bytecode(data)).count();
    let [first, second] = match (implementations, catalogues) {
        ([], _) => return Err(CreateError::InterfaceOnly),
        ([_], 1) => return Err(CreateError::NoCode),
        ([_], _) => return Err(CreateError::NoCatalogue),
        ([a, b], 1) => [a, b],
        _ => return Err(CreateError::Options),
    };
    let catalogue = module("catalogue", if is_bytecode(first) { first } else { second })?;
    if let Some(other) = foreign(&catalogue, |f| matches!(f, LibraryFunction::Implementation(_))) {
        return Err(LibraryError::NotAnImplementation(other).into());
    }
    Ok(write(interface, [first, second]))
}
