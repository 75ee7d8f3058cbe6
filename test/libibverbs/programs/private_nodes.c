// As a program that is linked with a provider (libmlx5, libefa) of a later release: it has to find the symbols of
// that release's private node when it is loaded, and its constructor registers it. Built with NODE, the node's
// number.
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
#define OF_NODE(name) __asm__(".symver " #name "," #name "@IBVERBS_PRIVATE_" TEXT(NODE))
#define JOINED_OF(name, node) name##node
#define JOINED(name, node) JOINED_OF(name, node)

extern int verbs_allow_disassociate_destroy;
int ibv_cmd_reg_mr(void);
int ibv_cmd_alloc_dmah(void);
int verbs_set_ops(void);
struct ibv_context* verbs_open_device(struct ibv_device*, void*);
void* _verbs_init_and_alloc_context(struct ibv_device*, int, size_t, void*, uint32_t);
const char* opcode_name(int) __asm__("ibv_wr_opcode_str");
int ibv_query_gid_type(struct ibv_context*, uint8_t, unsigned, int*);
int JOINED(verbs_register_driver_, NODE)(const void*);
OF_NODE(verbs_allow_disassociate_destroy);
OF_NODE(ibv_cmd_reg_mr);
OF_NODE(ibv_cmd_alloc_dmah);
OF_NODE(verbs_set_ops);
OF_NODE(verbs_open_device);
OF_NODE(_verbs_init_and_alloc_context);
OF_NODE(ibv_wr_opcode_str);
OF_NODE(ibv_query_gid_type);
__asm__(".symver " TEXT(JOINED(verbs_register_driver_, NODE)) "," TEXT(JOINED(verbs_register_driver_, NODE))
        "@IBVERBS_PRIVATE_" TEXT(NODE));

void* const imported[] = {&verbs_allow_disassociate_destroy, ibv_cmd_reg_mr, ibv_cmd_alloc_dmah, verbs_set_ops};

__attribute__((constructor)) static void offer(void) { JOINED(verbs_register_driver_, NODE)(imported); }

int main(void) {
  struct ibv_device** devices = ibv_get_device_list(0);
  struct ibv_context* context = ibv_open_device(devices[0]);
  int type = -1;
  if (context == 0 || ibv_query_gid_type(context, 1, 0, &type) != 0 || type != 1)
    return 1;
  /* Functions for providers alone are not there: they say so by their result, and by errno. */
  errno = 0;
  if (verbs_open_device(devices[0], 0) != 0 || errno != ENOSYS)
    return 2;
  if (_verbs_init_and_alloc_context(devices[0], 0, 0, 0, 0) != 0 || ibv_cmd_reg_mr() != ENOSYS)
    return 3;
  if (strcmp(opcode_name(IBV_WR_SEND_WITH_INV), "send-with-inv") != 0 || strcmp(opcode_name(99), "unknown") != 0)
    return 4;
  ibv_close_device(context);
  ibv_free_device_list(devices);
  puts("ok");
  return 0;
}
