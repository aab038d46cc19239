import { CodedError } from '../../lib/coded-error.ts'

/**
 * Why a sign-in fails. `RETURN_ADDRESS`: the address to return to is foreign. `SIGN_IN_EXPIRED`: the browser has no
 * pending sign-in that the answer belongs to. `SIGN_IN_REFUSED`: the provider refuses, or its answer is not for this
 * sign-in. `TOKEN_REFUSED`: the provider's token is not one that the gateway accepts. `SESSION_TOO_LARGE`: the tokens do
 * not fit into cookies. `PROVIDER_UNAVAILABLE`: the provider does not answer.
 */
export type SignInProblem =
  | 'RETURN_ADDRESS'
  | 'SIGN_IN_EXPIRED'
  | 'SIGN_IN_REFUSED'
  | 'TOKEN_REFUSED'
  | 'SESSION_TOO_LARGE'
  | 'PROVIDER_UNAVAILABLE'

/** A sign-in that fails, for the page that the user sees. Never contains tokens or codes. */
export class SignInError extends CodedError {
  readonly problem: SignInProblem

  constructor(
    problem: SignInProblem,
    message: string,
    details: { readonly value?: unknown; readonly hint: string; readonly cause?: unknown },
  ) {
    super(problem, message, details)
    this.problem = problem
  }
}
