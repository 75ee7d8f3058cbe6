import { enumText } from '../spec/enum_names.ts';
import {
  ManagementStatus,
  enumDescriptions,
  formatDescriptions,
  managementStatusNames,
  resourceNames,
  type FormatDescription,
} from '../spec/index.ts';
import { argumentName } from './arguments.ts';
import { VerbsError } from './errors.ts';

/** How a management command ended, as management_completion says. */
export interface ManagementAnswer {
  readonly status: ManagementStatus;
  /** Number of the object made; or which field or attributes are wrong. */
  readonly output: bigint;
  /** The wrong field lies in the input mailbox, not in the command. */
  readonly inMailbox: boolean;
  /** The resource that was short, how much was asked for, and how much is left. */
  readonly resource: number;
  readonly asked: number;
  readonly left: number;
}

/** The error number that libibverbs would give. */
const codes: Readonly<Record<number, string>> = {
  [ManagementStatus.unknownOpcode]: 'EOPNOTSUPP',
  [ManagementStatus.inUse]: 'EBUSY',
  [ManagementStatus.noResources]: 'ENOMEM',
  [ManagementStatus.notPermitted]: 'EPERM',
  [ManagementStatus.mailboxFault]: 'EFAULT',
  [ManagementStatus.notEnabled]: 'ENODEV',
  [ManagementStatus.contextMemoryFault]: 'EIO',
  [ManagementStatus.unreachable]: 'ENETUNREACH',
  [ManagementStatus.timeWait]: 'EAGAIN',
};

/** Fields of structures whose argument has another name. */
const renamed: Readonly<Record<string, string>> = {
  'register_memory_input.access_flags': 'access',
  'set_partition_key_input.partition_key_index': 'index',
  'resource_allocation_request.by_value': 'lanes',
  'resource_allocation_request.for_lane': 'lane',
  'resource_allocation_request.for_level': 'level',
  'resource_allocation_request.quality_of_service_level': 'level',
  'resource_allocation_request.transmit_virtual_lane': 'lane',
  'resource_allocation_request.which': 'first',
  'create_memory_window_input.window_type': 'type',
};

/** The cure for a status, beside its own description. */
const cures: Readonly<Record<number, string>> = {
  [ManagementStatus.unknownOpcode]: 'a device whose design knows this command',
  [ManagementStatus.badObject]: 'an object of this function that was not destroyed',
  [ManagementStatus.badState]: "a state in which the object's transitions allow it",
  [ManagementStatus.inUse]: 'destroy what refers to it first',
  [ManagementStatus.notPermitted]: 'the control function (underlying function 0)',
  [ManagementStatus.unreachable]:
    "a group of the IP version of the port's address, and on IPv6 a route to it (ip -6 route get GROUP)",
  [ManagementStatus.notEnabled]: 'open underlying function 0 first: it gives the device its memory',
};

/**
 * The error of a management command that did not succeed.
 * @param verb in libibverbs' terms spelled out
 * @param inputFormat format of what the input mailbox begins with, where there is one
 */
export function managementError(
  verb: string,
  answer: ManagementAnswer,
  inputFormat: string | undefined,
): VerbsError {
  const { status } = answer;
  const { attribute, expected, retryAfter, detail } = particulars(answer, inputFormat);
  const name = enumText('ManagementStatus', managementStatusNames, status);
  const doc = descriptionOf('management_status', status);
  const cure = expected ?? cures[status];
  const message = `${verb} failed: ${name}${detail}. ${doc}${cure === undefined ? '' : ` Expected: ${cure}.`}`;
  return new VerbsError(message, {
    code: codes[status] ?? 'EINVAL',
    verb,
    ...(attribute === undefined ? {} : { attribute }),
    ...(cure === undefined ? {} : { expected: cure }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
}

const seconds = (microseconds: number): string => `${(microseconds / 1e6).toPrecision(3)} s`;

interface Particulars {
  readonly attribute?: string;
  readonly expected?: string;
  readonly retryAfter?: number;
  readonly detail: string;
}

function particulars(answer: ManagementAnswer, inputFormat: string | undefined): Particulars {
  switch (answer.status) {
    case ManagementStatus.badParameter: {
      const attribute = fieldAt(answer, inputFormat);
      return { attribute, detail: ` (${attribute})` };
    }
    case ManagementStatus.noResources: {
      const attribute = resourceNames[answer.resource] ?? 'resource';
      return {
        attribute,
        detail: ` (${attribute}: ${answer.asked} asked for, ${answer.left} left)`,
        expected: `at most ${answer.left}`,
      };
    }
    case ManagementStatus.missingAttribute:
    case ManagementStatus.attributeNotAllowed: {
      const attribute = attributesOf(Number(answer.output)).join(', ');
      return { attribute, detail: ` (${attribute})` };
    }
    case ManagementStatus.timeWait:
      return answer.asked === 0
        ? {
            retryAfter: answer.left / 1000,
            attribute: 'state',
            detail: ` (for another ${seconds(answer.left)})`,
            expected: `to connect again then, or a queue pair reset with newNumber: true`,
          }
        : {
            retryAfter: answer.left / 1000,
            attribute: 'number',
            detail: ` (${answer.asked} numbers, the first for another ${seconds(answer.left)})`,
            expected: `to try again then, or a shorter time_wait (hca regs)`,
          };
    case ManagementStatus.success:
    case ManagementStatus.unknownOpcode:
    case ManagementStatus.badObject:
    case ManagementStatus.badState:
    case ManagementStatus.inUse:
    case ManagementStatus.notPermitted:
    case ManagementStatus.mailboxFault:
    case ManagementStatus.notEnabled:
    case ManagementStatus.contextMemoryFault:
    case ManagementStatus.unreachable:
      return { detail: '' };
    default:
      return { detail: ` (${String(answer.status satisfies never)})` };
  }
}

/** Name of the field that begins at the bit that the answer names. */
function fieldAt({ output, inMailbox }: ManagementAnswer, inputFormat: string | undefined): string {
  const format = inMailbox ? inputFormat : 'management_command';
  if (format?.endsWith('[]') === true) return fieldOfList(Number(output), format.slice(0, -2));
  const description = formatDescriptions.find(({ name }) => name === format);
  if (description === undefined || output === 0xffff_ffff_ffff_ffffn) return 'a reserved field';
  const bit = Number(output);
  if (bit >= description.bytes * 8) return 'the page list';
  return argumentAt(description, bit);
}

/** As fieldAt(), of one of several structures of a format. */
function fieldOfList(bit: number, format: string): string {
  const description = formatDescriptions.find(({ name }) => name === format)!;
  const bits = description.bytes * 8;
  return `requests[${Math.floor(bit / bits)}].${argumentAt(description, bit % bits)}`;
}

/** The argument of the field that holds a bit; one of an address vector by its own field. */
function argumentAt({ name, fields }: FormatDescription, bit: number): string {
  const field = fields.find((each) => bit >= each.bit && bit < each.bit + each.width * each.count);
  if (field === undefined) return `bit ${bit} of ${name}`;
  if (field.name !== 'address_vector') return renamed[`${name}.${field.name}`] ?? argumentName(field.name);
  const vector = formatDescriptions.find((each) => each.name === field.name)!;
  return `addressVector.${argumentAt(vector, bit - field.bit)}`;
}

function attributesOf(mask: number): string[] {
  const attributes = enumDescriptions.find(({ name }) => name === 'queue_pair_attribute')!;
  return attributes.values
    .filter(({ value }) => (mask & (1 << value)) !== 0)
    .map(({ name }) => argumentName(name));
}

function descriptionOf(enumeration: string, value: number): string {
  const values = enumDescriptions.find(({ name }) => name === enumeration)!.values;
  return values.find((each) => each.value === value)?.doc ?? '';
}
