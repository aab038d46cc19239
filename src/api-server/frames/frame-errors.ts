import { CodedError } from '../../lib/coded-error.ts'

/** The largest frame that is taken, bytes: an object of etcd's default 1.5 MiB, with room for larger limits. */
export const defaultMaxFrameBytes: number = 8 * 1024 * 1024

/** A body that ended in the middle: of a list, or of a frame of a watch. What came before was whole. */
export class TruncatedFrameError extends CodedError {
  constructor(what: string, missing: string) {
    super('TRUNCATED_FRAME', `${what} ended ${missing}`, {
      hint: 'the connection was cut, by the server or by a proxy before it; the request can be repeated',
    })
  }
}

/** A frame, or a list item, of more bytes than are taken. */
export class OversizedFrameError extends CodedError {
  constructor(what: string, maxFrameBytes: number) {
    super('OVERSIZED_FRAME', `${what} is larger than maxFrameBytes (${maxFrameBytes})`, {
      value: maxFrameBytes,
      hint: 'raise maxFrameBytes when the objects of this cluster really are that large',
    })
  }
}

/** The body of a LIST that is not a Kubernetes list, or not of the kind that was asked for. */
export class MalformedListError extends CodedError {
  constructor(
    problem: string,
    value?: unknown,
    hint = 'check that the address is an API server and not something before it',
  ) {
    super('MALFORMED_LIST', `the answer to a LIST is not what was asked for: ${problem}`, {
      value,
      hint,
    })
  }
}
