#[derive(Clone, Debug, Default)]
pub(crate) struct TmemState {}
