import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'
import type { ClientCertificate, Credentials } from '../../access/authentication/authenticator.ts'

/** What a request shows of its caller; `authorization` instead of its header where a message has given another one. */
export function credentialsOf(
  request: IncomingMessage,
  authorization: string | undefined = request.headers.authorization,
): Credentials {
  const { socket } = request
  const clientCertificate = socket instanceof TLSSocket ? certificateOf(socket) : undefined
  const { remoteAddress: address } = socket
  return { authorization, headers: () => request.headersDistinct, address, clientCertificate }
}

/** A connection has one for all its requests. */
const known = new WeakMap<TLSSocket, ClientCertificate>()

function certificateOf(socket: TLSSocket): ClientCertificate | undefined {
  // Without a CA of clients nobody is asked for a certificate, and nothing is verified.
  if (!socket.authorized) return undefined
  const before = known.get(socket)
  if (before !== undefined) return before
  const { subject, valid_to: notAfter } = socket.getPeerCertificate()
  // None was shown; the types do not say so.
  if ((subject as typeof subject | undefined) === undefined) return undefined
  const certificate = { commonName: String(subject.CN), notAfterMs: Date.parse(notAfter) }
  known.set(socket, certificate)
  return certificate
}
