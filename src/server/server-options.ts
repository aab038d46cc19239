import { aFlag, aLimit, aString, checksLike, type OptionChecks } from '../lib/options.ts'
import { z } from 'zod'
import type { UserQuotaLimits } from './guard/user-quotas.ts'
import type { UnsentLimits } from './unsent-bytes.ts'

/** How the gateway is reached, and what it accepts from whom. */
export interface ServerOptions extends UserQuotaLimits, UnsentLimits {
  /** The address to listen on: loopback, unless callers are asked who they are, or `insecureNoAuth` is set. */
  readonly host: string
  /** The port of the API; 0: any free one. */
  readonly port: number
  /** Allows an address beyond loopback, although everybody who reaches it reads with the gateway's own credentials. */
  readonly insecureNoAuth: boolean
  /** A file of the certificate to serve with, PEM; absent: without TLS. It is read again when it changes. */
  readonly tlsCert?: string | undefined
  /** A file of its key, PEM. */
  readonly tlsKey?: string | undefined
  /** A file of the CA whose client certificates are trusted, for `auth.mode: request-header`. */
  readonly tlsClientCa?: string | undefined
  /** Names in the `Host` header besides loopback and the bound address: `name`, or `name:port`. */
  readonly allowedHosts: readonly string[]
  /** Origins of web pages that may ask, besides the gateway's own: `https://portal.example.com`. */
  readonly allowedOrigins: readonly string[]
  /** Whether GraphiQL is served. Absent: only while bound to loopback. */
  readonly graphiql?: boolean | undefined
  /** A file of the only documents that may be run, as graphql-codegen, Apollo or Relay write it; absent: any may. */
  readonly trustedDocuments?: string | undefined
  /** The largest body of a request and message of a WebSocket. */
  readonly maxBodyBytes: number
  /** Answers of so many bytes are compressed, for those who accept it; 0: none. */
  readonly compressFromBytes: number
  /** How long a request may take to arrive, headers and body. */
  readonly requestDeadlineMs: number
  /** How long a connection may be idle between two requests. */
  readonly keepAliveMs: number
  /** Connections of all kinds; a further one is closed at once. */
  readonly maxConnections: number
  /** How long a WebSocket may wait before it sends `connection_init`. */
  readonly connectionInitDeadlineMs: number
  /** Operations under way on one WebSocket; a further one is answered with an error. */
  readonly maxOperationsPerSocket: number
  /** How often a WebSocket is pinged; one that has not answered by the next ping but one is cut off. */
  readonly pingIntervalMs: number
  /** How often it is asked whether the caller of a WebSocket is still known; one that is not is closed. */
  readonly reauthenticateMs: number
  /** A port for `/metrics` alone; 0: any free one. Absent: there is none. */
  readonly metricsPort?: number | undefined
  /** The address of that port. */
  readonly metricsHost: string
  /** Whether `/metrics` is on the port of the API, too, where everybody who reaches it may read them. */
  readonly metricsOnApiPort: boolean
  /** How long after SIGTERM it is still served, while `/readyz` answers 503, so that callers are sent elsewhere first. */
  readonly stopDelayMs: number
  /** How long a stop waits for requests under way. */
  readonly stopDeadlineMs: number
}

const milliseconds = z.int().min(1).max(3_600_000)

/** `http(s)://host[:port]`, as browsers write it: nothing behind it, no default port, no capitals. */
const origin = z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text, {
  error: 'expected an origin such as https://portal.example.com, without a path',
})

const hostName = z.string().regex(/^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]+)?$/i, {
  error: 'expected a host name, with or without a port, and no scheme',
})

/** Checks {@link ServerOptions}, and holds every default of them. */
export const serverOptionsSchema: z.ZodType<ServerOptions> = z.strictObject({
  host: z.string().min(1).default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(4000),
  insecureNoAuth: z.boolean().default(false),
  tlsCert: z.string().min(1).optional(),
  tlsKey: z.string().min(1).optional(),
  tlsClientCa: z.string().min(1).optional(),
  allowedHosts: z.array(hostName).default([]),
  allowedOrigins: z.array(origin).default([]),
  graphiql: z.boolean().optional(),
  trustedDocuments: z.string().min(1).optional(),
  maxBodyBytes: z.int().min(1024).max(16_777_216).default(131_072),
  compressFromBytes: z.int().min(0).max(1_073_741_824).default(32_768),
  requestDeadlineMs: milliseconds.default(30_000),
  keepAliveMs: milliseconds.default(60_000),
  maxConnections: z.int().min(1).max(1_000_000).default(10_000),
  connectionInitDeadlineMs: milliseconds.default(5_000),
  maxOperationsPerSocket: z.int().min(1).max(10_000).default(100),
  maxOperationsPerUser: z.int().min(1).max(100_000).default(100),
  maxSubscriptionsPerUser: z.int().min(1).max(1_000_000).default(1_000),
  maxSocketsPerUser: z.int().min(1).max(100_000).default(100),
  maxUnsentBytesPerUser: z.int().min(65_536).max(4_294_967_296).default(67_108_864),
  maxUnsentBytes: z.int().min(65_536).max(17_179_869_184).default(268_435_456),
  writeDeadlineMs: milliseconds.default(30_000),
  pingIntervalMs: milliseconds.default(15_000),
  reauthenticateMs: milliseconds.default(60_000),
  metricsPort: z.int().min(0).max(65_535).optional(),
  metricsHost: z.string().min(1).default('127.0.0.1'),
  metricsOnApiPort: z.boolean().default(false),
  stopDelayMs: z.int().min(0).max(3_600_000).default(5_000),
  stopDeadlineMs: milliseconds.default(10_000),
})

/** {@link ServerOptions} with every default. */
export function defaultServerOptions(): ServerOptions {
  return serverOptionsSchema.parse({})
}

/** For options that come from a program: those without a default, and the others by their defaults. */
export const serverChecks: OptionChecks<ServerOptions> = {
  ...checksLike(defaultServerOptions()),
  tlsCert: aString,
  tlsKey: aString,
  tlsClientCa: aString,
  graphiql: aFlag,
  trustedDocuments: aString,
  metricsPort: aLimit(),
}
