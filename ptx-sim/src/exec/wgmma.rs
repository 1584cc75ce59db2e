#[derive(Clone, Debug, Default)]
pub(crate) struct WgmmaState {}
