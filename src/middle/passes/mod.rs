//! The passes, one per file. Each file has the pass's command-line name.

pub mod convert_cudatile_to_tileaa;
pub mod convert_target_to_nvvm;
pub mod convert_tileaa_to_tileas;
pub mod convert_tileas_to_llvm;
pub mod convert_tileas_to_nvgpu;
pub mod fuse_fma;
pub mod loop_split;
pub mod synthesize_debug_info_scopes;
pub mod tileaa_hoist_views;
pub mod tileaa_narrow_loads;
pub mod tileaa_outline_producers;
pub mod tileaa_plan_dots;
pub mod tileaa_slice_dots;
pub mod tileaa_slice_epilogues;
pub mod tileaa_slice_keys;
pub mod tileaa_split_over_cluster;
pub mod tileaa_transpose_dots;
pub mod tileas_assign_dot_layouts;
pub mod tileas_assign_load_store_layouts;
pub mod tileas_check_register_budget;
pub mod tileas_check_synchronization;
pub mod tileas_choose_register_forms;
pub mod tileas_clamp_indices;
pub mod tileas_delay_loads;
pub mod tileas_dynamic_persistent;
pub mod tileas_generate_schedule_constraints;
pub mod tileas_hoist_scalars;
pub mod tileas_issue_ahead;
mod tileas_keep_addresses_in_loops;
pub mod tileas_lower_tma_load_store_to_async;
pub mod tileas_materialize_async;
pub mod tileas_materialize_convert_layout;
pub mod tileas_materialize_reductions;
pub mod tileas_materialize_register_loops;
pub mod tileas_materialize_schedule;
pub mod tileas_optimize_alloc_tensor;
pub mod tileas_order_memory;
pub mod tileas_ping_pong;
pub mod tileas_pipeline_dots;
pub mod tileas_prefetch_tiles;
pub mod tileas_prepare_for_scheduling;
pub mod tileas_recompute_for_scheduling;
pub mod tileas_remove_layout_conversions;
pub mod tileas_separate_warpgroups;
pub mod tileas_skip_rescale;
pub mod tileas_slicing;
pub mod tileas_specialize_agents;
pub mod tileas_unspecialized_pipeline;
pub mod tileir_emit_host_wrapper;
pub mod tileir_gpu_module_prepare;
pub mod tileir_insert_debug_scope;
pub mod tileir_post_nvvm_finalize;
pub mod tileir_print_snapshot;
pub mod tileir_sink_shared_loads;
pub mod tileir_verify_ops_analysis;

use crate::dialect::pass::{register, register_analysis};
use std::sync::Once;

/// Registers all passes, including the upstream passes that pipelines use, with MLIR. Later calls do nothing.
pub fn register_all() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: plain registration, once per process.
        unsafe {
            mlir_sys::mlirRegisterTransformsPasses();
            mlir_sys::mlirRegisterConversionConvertNVGPUToNVVMPass();
            mlir_sys::mlirRegisterConversionConvertToLLVMPass();
            mlir_sys::mlirRegisterConversionReconcileUnrealizedCastsPass();
            crate::dialect::ffi::mlirxRegisterUpstreamPasses();
        }
        register_own();
    });
}

/// Registers the analyses that passes of this library request. Call once per library in a process.
pub(crate) fn register_analyses() {
    register_analysis::<crate::analysis::schedule::ScheduleAnalysis>();
}

/// Registers the passes and pipelines of this compiler. Call once per process.
pub(crate) fn register_own() {
    register_analyses();
    register::<fuse_fma::FuseFMA>();
    register::<loop_split::LoopSplit>();
    register::<synthesize_debug_info_scopes::SynthesizeDebugInfoScopes>();
    register::<convert_cudatile_to_tileaa::ConvertCudaTileToTileAA>();
    register::<convert_tileaa_to_tileas::ConvertTileAAToTileAS>();
    register::<tileaa_hoist_views::HoistViews>();
    register::<tileaa_narrow_loads::NarrowLoads>();
    register::<tileaa_outline_producers::OutlineProducers>();
    register::<tileaa_plan_dots::PlanDots>();
    register::<tileaa_split_over_cluster::SplitOverCluster>();
    register::<tileaa_transpose_dots::TransposeDots>();
    register::<tileaa_plan_dots::pair_tile_blocks::PairTileBlocks>();
    register::<tileaa_plan_dots::tile_block_loops::LoopOverTileBlocks>();
    register::<tileaa_slice_dots::SliceDots>();
    register::<tileaa_slice_epilogues::SliceEpilogues>();
    register::<tileaa_slice_keys::SliceKeys>();
    register::<tileas_materialize_async::MaterializeAsync>();
    register::<tileas_lower_tma_load_store_to_async::LowerTmaLoadStoreToAsync>();
    register::<tileas_pipeline_dots::PipelineDots>();
    register::<tileas_separate_warpgroups::SeparateWarpgroups>();
    register::<tileas_issue_ahead::IssueAhead>();
    register::<tileas_prefetch_tiles::PrefetchTiles>();
    register::<tileas_delay_loads::DelayLoads>();
    register::<tileas_dynamic_persistent::DynamicPersistent>();
    register::<tileas_prepare_for_scheduling::PrepareForScheduling>();
    register::<tileas_recompute_for_scheduling::RecomputeForScheduling>();
    register::<tileas_generate_schedule_constraints::GenerateScheduleConstraints>();
    register::<tileas_materialize_schedule::MaterializeSchedule>();
    register::<tileas_specialize_agents::SpecializeAgents>();
    register::<tileas_ping_pong::PingPong>();
    register::<tileas_check_register_budget::CheckRegisterBudget>();
    register::<tileas_assign_dot_layouts::AssignDotLayouts>();
    register::<tileas_assign_load_store_layouts::AssignLoadStoreLayouts>();
    register::<tileas_remove_layout_conversions::RemoveLayoutConversions>();
    register::<convert_tileas_to_llvm::ConvertTileASToLLVM>();
    register::<tileas_materialize_reductions::MaterializeReductions>();
    register::<tileas_materialize_register_loops::MaterializeRegisterLoops>();
    register::<tileas_materialize_convert_layout::MaterializeConvertLayout>();
    register::<tileas_optimize_alloc_tensor::OptimizeAllocTensor>();
    register::<tileas_order_memory::OrderMemory>();
    register::<tileas_slicing::Slicing>();
    register::<tileas_check_synchronization::CheckSynchronization>();
    register::<tileas_unspecialized_pipeline::UnspecializedPipeline>();
    register::<tileas_clamp_indices::ClampIndices>();
    register::<tileas_hoist_scalars::HoistScalars>();
    register::<tileas_keep_addresses_in_loops::KeepAddressesInLoops>();
    register::<tileas_choose_register_forms::ChooseRegisterForms>();
    register::<tileas_skip_rescale::SkipRescale>();
    register::<convert_target_to_nvvm::ConvertTarget>();
    register::<convert_tileas_to_nvgpu::ConvertTileASToNVGPU>();
    register::<tileir_emit_host_wrapper::EmitHostWrapper>();
    register::<tileir_print_snapshot::PrintSnapshot>();
    register::<tileir_gpu_module_prepare::GpuModulePrepare>();
    register::<tileir_insert_debug_scope::InsertDebugScope>();
    register::<tileir_post_nvvm_finalize::PostNvvmFinalize>();
    register::<tileir_sink_shared_loads::SinkSharedLoads>();
    register::<tileir_verify_ops_analysis::VerifyOpsAnalysis>();
    crate::pipeline::register();
}
