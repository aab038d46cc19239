/*
 * The command: its sub-commands, their flags, and the exit codes (0 for success or a stop, 1 for a failure, 2 for a
 * misuse). Modules are loaded when a sub-command runs, so that `--help` is quick. The first signal stops, and the
 * second one ends the process at once.
 */

import { constants } from 'node:os'
import { Command, CommanderError, Option } from 'commander'
import {
  type Config,
  ConfigError,
  configFileOf,
  type ConfigSources,
  loadConfig,
} from '../config/config.ts'
import type { GivenOption } from '../config/option-source.ts'
import type { GatewayLog } from '../gateway/observers.ts'
import { packageVersion } from '../gateway/package-version.ts'
import { CodedError } from '../lib/coded-error.ts'
import { present } from '../lib/options.ts'
import { addFlags, append, commandFlags, givenFlags } from './command-flags.ts'
import { createLog, isJsonLog } from './log.ts'
import type { SchemaClient } from './print-schema.ts'
import type { CommandContext } from './run-gateway.ts'
import type { SimulateOptions } from './demo.ts'

/** The command succeeded, or was stopped. */
const succeeded = 0
/** The command failed: no cluster, the port is in use. */
const failed = 1
/** The command line or the configuration is invalid: an unknown flag, option or value, or a file that cannot be used. */
const misused = 2

const schemaClients: readonly SchemaClient[] = ['apollo', 'urql', 'relay']

/** The flags that name clusters. They replace the clusters of the configuration. */
interface ClusterFlags {
  readonly kubeconfig?: string
  readonly context?: readonly string[]
  readonly server?: string
}

/** Runs one command; `args` excludes the program's name. Resolves with the exit code. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  const program = new Command('informerql')
    .description('Kubernetes as one typed, live GraphQL API, answered from informer caches.')
    .version(packageVersion())
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
  const running: Running = { exitCode: succeeded }
  addCommands(program, running)
  try {
    await program.parseAsync(args, { from: 'user' })
    return running.exitCode
  } catch (error) {
    // Commander has printed the problem or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? succeeded : misused
    if (running.log === undefined) process.stderr.write(`informerql: ${messageOf(error)}\n`)
    else if (!(error instanceof CodedError)) running.log.error('the gateway has failed', { error })
    // An expected error has no stack to show.
    else running.log.error(error.message, { code: error.code, hint: error.hint })
    const { failedCode = failed } = running
    return error instanceof CodedError && misuseCodes.has(error.code) ? misused : failedCode
  }
}

/** The codes of what is wrong with the command line or the configuration, and not with a cluster or the machine. */
const misuseCodes: ReadonlySet<string> = new Set([
  'ARCHIVE_IN_USE',
  'ARCHIVE_TOO_NEW',
  'AUTH_OPTIONS',
  'BAD_PORTAL_VIEW',
  'CONFIG',
  'INVALID_OPTION',
  'NO_REVIEWER',
  'POPULATION',
  'SCENARIO',
  'SCHEMA_FILE',
  'SCHEMA_SDL',
  'TLS_CERTIFICATE',
  'TRUSTED_DOCUMENTS',
  'UNSAFE_ADDRESS',
  'USAGE',
  'YAML',
])

/** What the running command tells the program. */
interface Running {
  /** The exit code, if it does not fail. */
  exitCode: number
  /** The exit code, if it fails: default 1. */
  failedCode?: number
  /** Its log, if the error that ends it is a line there. */
  log?: GatewayLog
}

function addCommands(program: Command, running: Running): void {
  addCommand(program, 'serve', 'serve clusters, located as kubectl does', async (context) => {
    const { config, log } = context
    if (isJsonLog({ format: config.logFormat, stream: process.stderr })) {
      running.log = log
      // Node's warnings, and the error of a crash, become lines of the log.
      process.removeAllListeners('warning')
      process.on('warning', ({ name, message }) => log.warn(message, { code: name }))
      process.on('uncaughtExceptionMonitor', (error) => log.error('the gateway crashes', { error }))
    }
    const { serve } = await import('./run-gateway.ts')
    await serve(context)
  })
  addCommand(program, 'demo', 'serve simulated clusters that change', async (context) => {
    const { demo } = await import('./demo.ts')
    await demo(context)
  })
  const simulateText = 'run the simulated API server alone'
  addCommand(program, 'simulate', simulateText, async (context, options) => {
    const { simulate } = await import('./demo.ts')
    await simulate(context, options)
  })
    .option('--port <port>', 'port of the API server; 0 for any free port', portOf, 8001)
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--allowed-host <name>', 'further name of it in the Host header (repeatable)', append)
    .option('--cluster <name>', "one of the scenario's clusters, instead of all of it in one")
  addCommand(
    program,
    'schema',
    'print the GraphQL schema of a running gateway, of a named cluster, or of the built-in kinds',
    async (context, options) => {
      if (options.check !== undefined) {
        // An exit with 1 is for breaks only, so whatever prevents the check is a misuse.
        running.failedCode = misused
        const { printBreaks } = await import('./print-schema.ts')
        const schema = (): Promise<string> => schemaText(context, options)
        const { check, against, json } = options
        const fits = await printBreaks(schema, { check, against, json }, context.print)
        running.exitCode = fits ? succeeded : failed
        return
      }
      for (const flag of ['against', 'json'] as const) {
        if (options[flag] === undefined) continue
        throw new ConfigError(
          [`--${flag}: needs documents to check`],
          'name the documents with --check',
        )
      }
      context.print(await schemaText(context, options))
    },
  )
    .addOption(
      new Option(
        '--for <client>',
        'output for a client: type policies for Apollo, keys for urql, a schema for Relay',
      ).choices(schemaClients),
    )
    .option('--gateway <url>', 'running gateway that shows its schema: https://HOST/graphql')
    .addOption(new Option('--token <token>', 'bearer token for --gateway').env('INFORMERQL_TOKEN'))
    .addOption(
      new Option(
        '--check <documents>',
        "instead of printing, check clients' documents: a directory of .graphql files or of sources with gql`…` and graphql(`…`), a file, or a manifest of trusted documents; exits with 1 if any breaks",
      ).conflicts('for'),
    )
    .option('--against <file>', 'with --check: the schema that the documents were written for')
    .option('--json', 'with --check: the breaks as JSON')
  // Reads its own arguments: it is the same command in the package of controllers.
  program
    .command('types')
    .description('write TypeScript types for custom resources from their CustomResourceDefinitions')
    .argument('[arguments...]')
    .allowUnknownOption()
    .helpOption(false)
    .action(async (args: readonly string[]) => {
      const { typesCommand } = await import('../controller/types-command.ts')
      await typesCommand(args, {
        name: 'informerql',
        importFrom: 'informerql/kubernetes',
        print,
      })
    })
  addCommand(
    program,
    'doctor',
    'examine what `serve` with the same options needs: reach, credentials, rights, versions, clocks and a start; exits with 1 for problems, with 2 if it cannot run',
    async ({ config, print, signal }, { json }) => {
      // An examination that cannot run has found nothing: it exits as for a misuse.
      running.failedCode = misused
      const { examine, reportText } = await import('./doctor.ts')
      const report = await examine(config, signal)
      print(json === true ? `${JSON.stringify(report, null, 2)}\n` : reportText(report))
      running.exitCode = report.problems === 0 ? succeeded : failed
    },
  ).option('--json', 'the findings as JSON')
}

async function schemaText(
  { config, log }: CommandContext,
  { for: client, gateway, token }: CommandOptions,
): Promise<string> {
  const { printSchemaOf, printBuiltInSchema, printSchemaFrom } = await import('./print-schema.ts')
  if (gateway !== undefined) return await printSchemaFrom({ url: gateway, token }, client)
  const isNamed = config.clusters.some((one) => Object.keys(one).length > 1)
  return await (isNamed ? printSchemaOf : printBuiltInSchema)(config, log, client)
}

const print = (text: string): void => void process.stdout.write(text)

interface CommandOptions extends SimulateOptions {
  readonly for?: SchemaClient
  readonly gateway?: string
  readonly token?: string
  readonly check?: string
  readonly against?: string
  readonly json?: boolean
}

function addCommand(
  program: Command,
  name: keyof typeof commandFlags,
  description: string,
  run: (context: CommandContext, options: CommandOptions) => Promise<void>,
): Command {
  const flags = commandFlags[name]
  const command = program
    .command(name)
    .description(description)
    .option('--config <file>', 'YAML file of options; flags and INFORMERQL_* variables win over it')
  if (name === 'serve' || name === 'schema' || name === 'doctor') {
    command
      .option('--kubeconfig <file>', 'kubeconfig file, instead of KUBECONFIG or ~/.kube/config')
      .option(
        '--context <name>',
        'context of the kubeconfig (repeatable: several clusters)',
        append,
      )
      .option('--server <url>', 'address of the API server')
  }
  return addFlags(command, flags).action(async (options: CommandOptions) => {
    const given = [...givenFlags(command, flags), ...clusterFlagsOf(command)]
    await run(contextOf(command, given), options)
  })
}

function clusterFlagsOf(command: Command): readonly GivenOption[] {
  const { kubeconfig, context, server } = command.opts<ClusterFlags>()
  const given = present({ kubeconfig, context, server })
  const flags = Object.keys(given).map((name) => `--${name}`)
  if (flags.length === 0) return []
  const where = present({ kubeconfig, server })
  const value = context?.map((name) => ({ ...where, context: name })) ?? [where]
  return [{ place: flags.join(' '), path: ['clusters'], value }]
}

function contextOf(command: Command, flags: readonly GivenOption[]): CommandContext {
  const { config: file } = command.opts<{ readonly config?: string }>()
  const sources: ConfigSources = { file, variables: process.env, flags }
  const config = loadConfig(sources)
  const load = (): Config => loadConfig({ ...sources, refuseEmptyFile: true })
  const followed = configFileOf(sources)
  const { logLevel: level, logFormat: format } = config
  const log = createLog({ level, format, stream: process.stderr })
  return {
    config,
    ...(followed === undefined ? {} : { followed: { file: followed, load } }),
    log,
    signal: stopSignal(config, log),
    print,
  }
}

/** For all that a stop does besides the waits of the server's options. */
const stopGraceMs = 4_000

/**
 * Aborts on the first SIGINT or SIGTERM. The second one ends the process at once, with 128 plus the signal's number. So
 * does a stop that outlasts its deadlines, with {@link failed}.
 */
function stopSignal({ server }: Config, log: GatewayLog): AbortSignal {
  const stop = new AbortController()
  const { drainDelayMs, drainSpreadMs, stopDeadlineMs } = server
  const deadlineMs = drainDelayMs + drainSpreadMs + stopDeadlineMs + stopGraceMs
  const late = (): void => {
    log.error(`the stop took longer than ${deadlineMs} ms and is cut short`)
    // oxlint-disable-next-line node/no-process-exit -- something does not end
    process.exit(failed)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // oxlint-disable-next-line node/no-process-exit -- the way out of a stop that does not end
      if (stop.signal.aborted) process.exit(128 + constants.signals[signal])
      stop.abort(signal)
      setTimeout(late, deadlineMs).unref()
    })
  }
  return stop.signal
}

function portOf(text: string): number {
  const port = Number(text)
  if (/^[0-9]+$/.test(text) && port <= 65_535) return port
  const problem = `--port: ${JSON.stringify(text)} is not a port`
  throw new ConfigError([problem], 'give a port from 0 to 65535')
}

/** The message of an error: with its hint for expected errors, with its stack for others. */
function messageOf(error: unknown): string {
  if (error instanceof CodedError) {
    return error.hint === undefined ? error.message : `${error.message}\n  ${error.hint}`
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
