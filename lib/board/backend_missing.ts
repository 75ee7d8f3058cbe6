/** A backend that is a valid name in a device string but that this version does not have. */
export class BackendMissingError extends Error {
  override readonly name = 'BackendMissingError';
  /** Name of the system's error number. */
  readonly code = 'ENOTSUP';
}
