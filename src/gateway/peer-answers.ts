/*
 * What the answers of other gateways mean: that one is lost, and whether it may have begun the operation by then, or that it
 * refuses. Only a gateway refuses by errors in JSON; other texts are of a proxy on the way, or of a stranger at its address.
 */

import type { ClientRequest, IncomingMessage } from 'node:http'
import { GraphQLError } from 'graphql'
import {
  connectionErrorOf,
  type ConnectionFailure,
} from '../api-server/transport/connection-error.ts'
import { PeerError } from '../graphql/over-gateways/peers.ts'
import { isRecord, jsonIn } from '../lib/json.ts'

/** A refusal is short. */
const maxRefusalBytes = 65_536

interface PeerAddress {
  readonly address: URL
}

/** What the operator of the gateways can do. */
const waysOut: Partial<Record<ConnectionFailure, string>> = {
  'unknown-authority': 'share.caFile names the CA of its certificate',
  'wrong-host': 'its certificate (server.tlsCert) names the host of its share.address',
  'certificate-expired': 'its certificate (server.tlsCert) has to be renewed',
  tls: 'its share.address has https:// if it has server.tlsCert, otherwise http://',
  protocol: 'its share.address has https:// if it has server.tlsCert, otherwise http://',
}

export const notOfGateway: Error = new Error('what answers there is no gateway')

export function lost(peer: PeerAddress, cause: unknown, mayHaveBegun = true): PeerError {
  const why = cause instanceof Error && cause.message !== '' ? cause.message : 'it is gone'
  const wayOut = waysOut[connectionErrorOf(peer.address.host, cause).failure]
  const message = `the gateway at ${peer.address.origin} does not answer: ${why}`
  return new PeerError(wayOut === undefined ? message : `${message} (${wayOut})`, {
    mayHaveBegun,
    cause,
  })
}

export function isOfType({ headers }: IncomingMessage, type: string): boolean {
  return headers['content-type']?.startsWith(type) === true
}

/** Whether a text begins as an answer does. The reader finds out whether the rest is JSON. */
export function isAnswer(response: IncomingMessage, text: string): boolean {
  return isOfType(response, 'application/json') && /^\{"(?:data|errors|extensions)":/.test(text)
}

/** Resolves with the response. Rejects with `PeerError`. */
export function answered(peer: PeerAddress, sent: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    let isConnected = false
    sent.once('socket', (socket) => {
      isConnected = !socket.connecting
      if (isConnected) return
      socket.once(
        peer.address.protocol === 'https:' ? 'secureConnect' : 'connect',
        () => void (isConnected = true),
      )
    })
    sent.once('response', resolve)
    // Also after the response, whose reader hears of it by itself.
    sent.on('error', (error) => reject(lost(peer, error, isConnected)))
  })
}

/** The errors of a refused operation. Throws `PeerError` for other answers, and for a peer that starts or stops. */
export function errorsOf(
  peer: PeerAddress,
  httpStatus: number,
  text: string,
): readonly GraphQLError[] {
  const { errors } = parsed(text) ?? {}
  const all = Array.isArray(errors) ? errors.filter(isRecord) : []
  const [first] = all
  const code = isRecord(first?.['extensions']) ? first['extensions']['code'] : undefined
  // A proxy on the way answers by other texts, and it may have passed the operation on.
  if (first === undefined) throw lost(peer, new Error(`HTTP ${httpStatus}`))
  const isStarting = httpStatus === 503 && code === 'INTERNAL'
  const isNotBegun = isStarting || [403, 404].includes(httpStatus) || isMisdirected(text)
  if (isNotBegun || code === 'INTERNAL') {
    throw lost(peer, new Error(String(first['message'])), !isNotBegun)
  }
  return all.map(
    ({ message, extensions }) =>
      new GraphQLError(String(message), { extensions: isRecord(extensions) ? extensions : {} }),
  )
}

/** Whether the peer says that it does not hold the cluster. */
export function isMisdirected(text: string): boolean {
  if (text.length > 2_048 || !text.includes('"misdirected"')) return false
  const { errors } = parsed(text) ?? {}
  const [first] = Array.isArray(errors) ? (errors as unknown[]) : []
  const extensions = isRecord(first) ? first['extensions'] : undefined
  return isRecord(extensions) && extensions['misdirected'] === true
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  const value = jsonIn(text)
  return isRecord(value) ? value : undefined
}

/** The errors of a refused subscription. Throws `PeerError`. */
export async function refusalIn(
  peer: PeerAddress,
  httpStatus: number,
  response: IncomingMessage,
): Promise<readonly GraphQLError[]> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > maxRefusalBytes) break
  }
  return errorsOf(peer, httpStatus, Buffer.concat(chunks).toString())
}
