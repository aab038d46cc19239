import type { IncomingMessage } from 'node:http'
import type { Credentials } from '../../access/authentication/authenticator.ts'

/** What a request shows of its caller; `authorization` instead of its header where a message has given another one. */
export function credentialsOf(
  { headers }: IncomingMessage,
  authorization: string | undefined = headers.authorization,
): Credentials {
  return { authorization, headers }
}
