// The interface between libibverbs and its providers, which libraries that programs link (libmlx5, libefa)
// have to find when they are loaded. They register themselves, find no device of theirs, and call nothing of
// the rest. Functions of the public interface that convert structures of the kernel are here too.
#include "libibverbs/exported.h"
#include "libibverbs/private_versions.h"

#include <cerrno>

extern "C" int own_verbs_allow_disassociate_destroy;
int own_verbs_allow_disassociate_destroy = 0;
IN_PRIVATE_NODES(verbs_allow_disassociate_destroy, own_verbs_allow_disassociate_destroy)

#define STUB(name)                                                                                           \
  VERBS_EXPORT int name() {                                                                                  \
    errno = ENOSYS;                                                                                          \
    return ENOSYS;                                                                                           \
  }
#define PRIVATE_STUB(name) STUB(own_##name) IN_PRIVATE_NODES(name, own_##name)
// Of what gives a pointer.
#define PRIVATE_POINTER_STUB(name)                                                                           \
  VERBS_EXPORT void* own_##name() {                                                                          \
    errno = ENOSYS;                                                                                          \
    return nullptr;                                                                                          \
  }                                                                                                          \
  IN_PRIVATE_NODES(name, own_##name)

PRIVATE_STUB(__ioctl_final_num_attrs)
PRIVATE_STUB(__verbs_log)
PRIVATE_POINTER_STUB(_verbs_init_and_alloc_context)
PRIVATE_STUB(execute_ioctl)
PRIVATE_STUB(ibv_cmd_advise_mr)
PRIVATE_STUB(ibv_cmd_alloc_dm)
PRIVATE_STUB(ibv_cmd_alloc_dmah)
PRIVATE_STUB(ibv_cmd_alloc_mw)
PRIVATE_STUB(ibv_cmd_alloc_pd)
PRIVATE_STUB(ibv_cmd_attach_mcast)
PRIVATE_STUB(ibv_cmd_close_xrcd)
PRIVATE_STUB(ibv_cmd_create_ah)
PRIVATE_STUB(ibv_cmd_create_comp_cntr)
PRIVATE_STUB(ibv_cmd_create_counters)
PRIVATE_STUB(ibv_cmd_create_cq)
PRIVATE_STUB(ibv_cmd_create_cq_ex)
PRIVATE_STUB(ibv_cmd_create_cq_ex2)
PRIVATE_STUB(ibv_cmd_create_flow)
PRIVATE_STUB(ibv_cmd_create_flow_action_esp)
PRIVATE_STUB(ibv_cmd_create_qp)
PRIVATE_STUB(ibv_cmd_create_qp_ex)
PRIVATE_STUB(ibv_cmd_create_qp_ex2)
PRIVATE_STUB(ibv_cmd_create_rwq_ind_table)
PRIVATE_STUB(ibv_cmd_create_srq)
PRIVATE_STUB(ibv_cmd_create_srq_ex)
PRIVATE_STUB(ibv_cmd_create_wq)
PRIVATE_STUB(ibv_cmd_dealloc_mw)
PRIVATE_STUB(ibv_cmd_dealloc_pd)
PRIVATE_STUB(ibv_cmd_dereg_mr)
PRIVATE_STUB(ibv_cmd_destroy_ah)
PRIVATE_STUB(ibv_cmd_destroy_comp_cntr)
PRIVATE_STUB(ibv_cmd_destroy_counters)
PRIVATE_STUB(ibv_cmd_destroy_cq)
PRIVATE_STUB(ibv_cmd_destroy_flow)
PRIVATE_STUB(ibv_cmd_destroy_flow_action)
PRIVATE_STUB(ibv_cmd_destroy_qp)
PRIVATE_STUB(ibv_cmd_destroy_rwq_ind_table)
PRIVATE_STUB(ibv_cmd_destroy_srq)
PRIVATE_STUB(ibv_cmd_destroy_wq)
PRIVATE_STUB(ibv_cmd_detach_mcast)
PRIVATE_STUB(ibv_cmd_export_dmabuf_fd)
PRIVATE_STUB(ibv_cmd_free_dm)
PRIVATE_STUB(ibv_cmd_free_dmah)
PRIVATE_STUB(ibv_cmd_get_context)
PRIVATE_STUB(ibv_cmd_inc_comp_cntr)
PRIVATE_STUB(ibv_cmd_inc_err_comp_cntr)
PRIVATE_STUB(ibv_cmd_modify_cq)
PRIVATE_STUB(ibv_cmd_modify_flow_action_esp)
PRIVATE_STUB(ibv_cmd_modify_qp)
PRIVATE_STUB(ibv_cmd_modify_qp_ex)
PRIVATE_STUB(ibv_cmd_modify_srq)
PRIVATE_STUB(ibv_cmd_modify_wq)
PRIVATE_STUB(ibv_cmd_open_qp)
PRIVATE_STUB(ibv_cmd_open_xrcd)
PRIVATE_STUB(ibv_cmd_poll_cq)
PRIVATE_STUB(ibv_cmd_post_recv)
PRIVATE_STUB(ibv_cmd_post_send)
PRIVATE_STUB(ibv_cmd_post_srq_recv)
PRIVATE_STUB(ibv_cmd_qp_attach_comp_cntr)
PRIVATE_STUB(ibv_cmd_query_comp_cntr_caps)
PRIVATE_STUB(ibv_cmd_query_context)
PRIVATE_STUB(ibv_cmd_query_device)
PRIVATE_STUB(ibv_cmd_query_device_any)
PRIVATE_STUB(ibv_cmd_query_mr)
PRIVATE_STUB(ibv_cmd_query_port)
PRIVATE_STUB(ibv_cmd_query_port_speed)
PRIVATE_STUB(ibv_cmd_query_qp)
PRIVATE_STUB(ibv_cmd_query_srq)
PRIVATE_STUB(ibv_cmd_read_comp_cntr)
PRIVATE_STUB(ibv_cmd_read_counters)
PRIVATE_STUB(ibv_cmd_read_err_comp_cntr)
PRIVATE_STUB(ibv_cmd_reg_dm_mr)
PRIVATE_STUB(ibv_cmd_reg_dmabuf_mr)
PRIVATE_STUB(ibv_cmd_reg_mr)
PRIVATE_STUB(ibv_cmd_reg_mr_ex)
PRIVATE_STUB(ibv_cmd_req_notify_cq)
PRIVATE_STUB(ibv_cmd_rereg_mr)
PRIVATE_STUB(ibv_cmd_resize_cq)
PRIVATE_STUB(ibv_cmd_set_comp_cntr)
PRIVATE_STUB(ibv_cmd_set_err_comp_cntr)
PRIVATE_POINTER_STUB(ibv_dmabuf_heap_alloc)
PRIVATE_POINTER_STUB(ibv_dmabuf_heap_cc_shared_init)
PRIVATE_STUB(ibv_dmabuf_heap_destroy)
PRIVATE_STUB(ibv_dmabuf_heap_free)
PRIVATE_STUB(ibv_read_ibdev_sysfs_file)
PRIVATE_STUB(verbs_init_cq)
PRIVATE_POINTER_STUB(verbs_open_device)
PRIVATE_STUB(verbs_set_ops)
PRIVATE_STUB(verbs_uninit_context)

// Its name has the number of the node.
STUB(verbs_register_driver_34)
STUB(verbs_register_driver_57)
STUB(verbs_register_driver_59)
STUB(verbs_register_driver_64)
STUB(verbs_register_driver_65)

STUB(ibv_register_driver)
STUB(ibv_copy_ah_attr_from_kern)
STUB(ibv_copy_path_rec_from_kern)
STUB(ibv_copy_path_rec_to_kern)
STUB(ibv_copy_qp_attr_from_kern)
