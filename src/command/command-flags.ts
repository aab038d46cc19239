/*
 * The flags of each command that set options, as tables of flag, option and description. The option's schema says how
 * a flag's text is read.
 */

import { type Command, Option } from 'commander'
import { variableOptions } from '../config/config.ts'
import type { GivenOption, NamedOption } from '../config/option-source.ts'

/** A command-line flag that sets one option. Repeated flags of a list are its items. */
export interface Flag extends NamedOption {
  /** `--port <port>` */
  readonly flags: string
  readonly description: string
}

const serverFlags = flagTable(`
  --port <port>               server.port              port of the API; 0 for any free port
  --host <address>            server.host              address to listen on
  --insecure-no-auth          server.insecureNoAuth    allow an address beyond loopback without authentication; every client that reaches it may read everything
  --tls-cert <file>           server.tlsCert           certificate of the server, PEM; read again when it changes
  --tls-key <file>            server.tlsKey            its key, PEM
  --tls-client-ca <file>      server.tlsClientCa       CA of trusted client certificates, for --auth request-header
  --public-url <url>          server.publicUrl         address at which browsers see the gateway, behind a proxy
  --allowed-host <name>       server.allowedHosts      further name of the gateway in the Host header
  --allowed-origin <origin>   server.allowedOrigins    origin of web pages that may send operations
  --graphiql                  server.graphiql          serve GraphiQL also beyond loopback
  --no-graphiql               server.graphiql          serve no GraphiQL
  --portal                    server.portal            serve the portal at / (the default)
  --no-portal                 server.portal            serve no portal
  --introspection             introspection            allow introspection also beyond loopback and with authentication
  --no-introspection          introspection            refuse introspection
  --drain-delay <duration>    server.drainDelayMs      how long to keep serving after SIGTERM, with /readyz at 503, until load balancers have noticed
  --drain-spread <duration>   server.drainSpreadMs     longest time over which clients of WebSockets and event streams are then asked to reconnect
  --trusted-documents <file>  server.trustedDocuments  run only the documents of this file, as graphql-codegen, Apollo or Relay write it
`)

const serveFlags = flagTable(`
  --auth <mode>           auth.mode           how callers are authenticated: none, token-review, oidc, oidc-login or request-header; its options are in the configuration
  --auth-audience <name>  auth.audiences      required audience of tokens
  --audit-file <file>     audit.file          file of the audit log; - for the standard output
  --no-audit-required     audit.required      serve also while the audit log cannot be written
  --metrics-port <port>   server.metricsPort  port of /metrics, on loopback unless server.metricsHost says otherwise
  --allow-writes          allowWrites         serve mutations, which write with the bearer token of the caller; without authentication, with the gateway's credentials
  --allow-exec            exec.allow          open shells in containers at /exec, with the bearer token of the caller; without authentication on loopback only, with the gateway's credentials
`)

const preloadFlags = flagTable(`
  --preload <kind>  preload  kind to load at start, by its list field: pods
`)

const archiveFlags = flagTable(`
  --archive <url>  archive.url  where what the caches saw is kept: file:PATH, postgres://..., memory: or none
`)

const shareFlags = flagTable(`
  --share-address <url>  share.address  address at which other gateways reach this one; shares the clusters with those that have the same postgres:// archive
`)

const schemaFlags = flagTable(`
  --schema <directory>  schema           directory of SDL with further indexes and relations; edits are served while it runs
  --schema-file <file>  schemaFiles      SDL with further indexes and relations
  --infer-references    inferReferences  make relations of fields of custom kinds with names in ...Ref
  --relay               relay            support refetching by relay-compiler: fetch__Pod(id:)
  --federation          federation       be a subgraph of Apollo Federation 2: _entities and _service
  --secret-data         secretData       add data to Secrets, read live with the bearer token of the caller
`)

const printedFlags = flagTable(`
  --allow-writes  allowWrites  with the mutations that a gateway with --allow-writes serves
`)

const simulatorFlags = flagTable(`
  --scenario <directory>  simulator.scenario         directory of a scenario; default: the company that comes with the package
  --pods <count>          simulator.pods             number of simulated pods
  --seed <text>           simulator.seed             the same seed makes the same cluster
  --rate <writes>         simulator.eventsPerSecond  changes per second; 0 for none
`)

const demoFlags = flagTable(`
  --no-allow-writes  allowWrites  serve no mutations
  --no-allow-exec    exec.allow   open no shells in the simulated containers
`)

const logFlags = flagTable(`
  --log-level <level>    logLevel   debug, info, warn, error or silent
  --log-format <format>  logFormat  json, text, or auto: text on a terminal, JSON otherwise
`)

const flagsOfServe: readonly Flag[] = [
  ...serverFlags,
  ...serveFlags,
  ...preloadFlags,
  ...archiveFlags,
  ...shareFlags,
  ...schemaFlags,
  ...logFlags,
]

/** The flags of each command that set options. */
export const commandFlags: Readonly<
  Record<'serve' | 'demo' | 'simulate' | 'schema' | 'doctor', readonly Flag[]>
> = {
  serve: flagsOfServe,
  demo: [
    ...serverFlags,
    ...demoFlags,
    ...simulatorFlags,
    ...preloadFlags,
    ...archiveFlags,
    ...schemaFlags,
    ...logFlags,
  ],
  simulate: [...simulatorFlags, ...logFlags],
  schema: [...schemaFlags, ...printedFlags, ...logFlags],
  // It examines what `serve` would use.
  doctor: flagsOfServe,
}

/** Reads a table of flags, the options that they set, and their descriptions. */
function flagTable(table: string): readonly Flag[] {
  const options = new Map(variableOptions().map((option) => [option.path.join('.'), option]))
  return table
    .trim()
    .split('\n')
    .map((line) => {
      const [flags = '', name = '', description = ''] = line.trim().split(/ {2,}/)
      const option = options.get(name)
      if (option === undefined) throw new TypeError(`${flags}: there is no option ${name}`)
      return {
        ...option,
        flags,
        description: option.type === 'list' ? `${description} (repeatable)` : description,
      }
    })
}

export function addFlags(command: Command, flags: readonly Flag[]): Command {
  for (const { flags: syntax, description, type } of flags) {
    const option = new Option(syntax, description)
    if (type === 'list') option.argParser(append)
    command.addOption(option)
  }
  return command
}

/** Collects the values of a repeatable flag. */
export function append(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

export function givenFlags(command: Command, flags: readonly Flag[]): readonly GivenOption[] {
  return flags.flatMap(({ flags: syntax, path, type }) => {
    const option = new Option(syntax)
    const value: unknown = command.getOptionValue(option.attributeName())
    // `--graphiql` and `--no-graphiql` set the same option; only the given flag counts.
    if (value === undefined || (option.negate ? value !== false : value === false)) return []
    return [
      { place: option.long ?? syntax, path, value: type === 'other' ? numberOf(value) : value },
    ]
  })
}

/** Converts numbers. Leaves other values for the check of the option. */
function numberOf(value: unknown): unknown {
  return typeof value === 'string' && /^-?[0-9]+(\.[0-9]+)?$/.test(value) ? Number(value) : value
}
