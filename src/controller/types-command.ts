/*
 * The command `types`: reads CustomResourceDefinitions from files or a cluster, and writes the TypeScript types of their
 * kinds, or checks that a file still has them.
 */

import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { ApiServer } from '../api-server/api-server.ts'
import { loadClusterConfig } from '../api-server/kubeconfig/cluster-lookup.ts'
import { resources } from '../kubernetes/resources.ts'
import {
  customTypes,
  CustomTypesError,
  type PlacedDefinition,
} from '../kubernetes/typescript/custom-types.ts'
import { CodedError } from '../lib/coded-error.ts'
import { isRecord } from '../lib/json.ts'
import { present } from '../lib/options.ts'

/** What the program around the command provides. */
interface TypesProgram {
  /** `informerql`, in messages. */
  readonly name: string
  /** The module that generated files import: `informerql/kubernetes`. */
  readonly importFrom: string
  print(text: string): void
}

function usageError({ name }: TypesProgram, problem: string, cause?: unknown): CodedError {
  return new CodedError('USAGE', problem, { hint: `see ${name} types --help`, cause })
}

const flags = {
  crd: { type: 'string', multiple: true },
  cluster: { type: 'boolean' },
  kubeconfig: { type: 'string' },
  context: { type: 'string' },
  server: { type: 'string' },
  group: { type: 'string', multiple: true },
  out: { type: 'string' },
  check: { type: 'boolean' },
  import: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const

const help = (name: string, importFrom: string): string => `Usage: ${name} types [options]

Write TypeScript types for custom resources from their CustomResourceDefinitions.

Options:
  --crd <file...>      YAML or JSON file, directory of such files, or - for the standard input; other objects in it are left out
  --cluster            read the definitions of a cluster, located as kubectl does
  --kubeconfig <file>  kubeconfig file, instead of KUBECONFIG or ~/.kube/config
  --context <name>     context of the kubeconfig
  --server <url>       address of the API server
  --group <group>      only the kinds of this API group (repeatable)
  --out <file>         file to write, instead of the standard output
  --check              fail if the file is out of date; write nothing
  --import <module>    module that the file imports its types from; default: ${importFrom}
`

/** Rejects with {@link CodedError}s. */
export async function typesCommand(args: readonly string[], program: TypesProgram): Promise<void> {
  const { values, positionals } = attempt(
    () => parseArgs({ args: [...args], options: flags, allowPositionals: true }),
    (error) => usageError(program, (error as Error).message, error),
  )
  if (values.help === true) {
    program.print(help(program.name, program.importFrom))
    return
  }
  const { crd, cluster, kubeconfig, context, server, group: groups, out, check } = values
  const problem =
    (crd === undefined &&
      positionals.length > 0 &&
      `${JSON.stringify(positionals[0])} is not an option`) ||
    ((crd === undefined) === (cluster !== true) && 'give either --crd or --cluster') ||
    (cluster !== true &&
      (kubeconfig ?? context ?? server) !== undefined &&
      '--kubeconfig, --context and --server go with --cluster') ||
    (check === true && out === undefined && '--check needs the file: --out')
  if (problem !== false) throw usageError(program, problem)
  const definitions = (crd === undefined ? [] : [...crd, ...positionals]).flatMap(definitionsAt)
  if (crd === undefined) {
    const selection = present({ kubeconfig, context, server })
    await using apiServer = new ApiServer({ config: loadClusterConfig(selection) })
    // A page at a time.
    const list = apiServer.client(resources.customResourceDefinitions).list({ limit: 50 })
    for await (const definition of list) {
      definitions.push({ place: `${apiServer.name}: ${definition.metadata.name}`, definition })
    }
  }
  const importFrom = values.import ?? program.importFrom
  const text = customTypes(definitions, { importFrom, ...present({ groups }) })
  if (out === undefined) program.print(text)
  else if (existsSync(out) && readFileSync(out, 'utf8') === text) return
  else if (check === true) {
    const hint = 'run the command again without --check'
    throw new CodedError('TYPES_OUTDATED', `${out} is out of date`, { value: out, hint })
  } else {
    const hint = 'give a file that can be written'
    const refused = (error: unknown): Error =>
      new CustomTypesError(out, (error as Error).message, hint)
    attempt(() => writeFileSync(out, text), refused)
  }
}

/** Returns the result of `make`. If that throws, throws the error that `refused` makes of it. */
function attempt<T>(make: () => T, refused: (error: unknown) => Error): T {
  try {
    return make()
  } catch (error) {
    throw refused(error)
  }
}

const extensions = new Set(['.yaml', '.yml', '.json'])
const maxFileBytes = 64 * 1024 * 1024

/** The definitions of a file, or of the files of a directory. */
function definitionsAt(path: string): readonly PlacedDefinition[] {
  const files = attempt(
    () =>
      path === '-' || !statSync(path).isDirectory()
        ? [path]
        : readdirSync(path)
            .filter((name) => extensions.has(extname(name)))
            .toSorted()
            .map((name) => join(path, name)),
    (error) => unreadable(path, error),
  )
  return files.flatMap((file) => {
    const text = attempt(
      () => {
        if (file !== '-' && statSync(file).size > maxFileBytes) {
          const hint = 'give its definitions in smaller files'
          throw new CustomTypesError(file, `it is larger than ${maxFileBytes} bytes`, hint)
        }
        return readFileSync(file === '-' ? 0 : file, 'utf8')
      },
      (error) => unreadable(file, error),
    )
    return definitionsIn(file === '-' ? 'the standard input' : file, text)
  })
}

function unreadable(file: string, error: unknown): CodedError {
  if (error instanceof CodedError) return error
  return new CustomTypesError(file, (error as Error).message, 'give a file that can be read')
}

/** The definitions among the objects of a YAML or JSON text, also those in lists. */
function definitionsIn(file: string, text: string): readonly PlacedDefinition[] {
  const documents = parseAllDocuments(text, { prettyErrors: true })
  const objects = Array.from(documents, (document) => {
    const [error] = document.errors
    const hint = 'give YAML or JSON as kubectl takes it'
    if (error !== undefined) throw new CustomTypesError(file, error.message, hint)
    try {
      return document.toJS({ maxAliasCount: 100 }) as unknown
    } catch (cause) {
      throw new CustomTypesError(file, (cause as Error).message, hint)
    }
  })
  const all = objects.flatMap((object): readonly unknown[] =>
    isRecord(object) && String(object['kind']).endsWith('List')
      ? [object['items'] ?? []].flat()
      : [object],
  )
  return all.filter(isRecord).flatMap((definition) => {
    const { kind, metadata, apiVersion } = definition
    if (kind !== 'CustomResourceDefinition') return []
    const place = `${file}: ${isRecord(metadata) ? String(metadata['name']) : '?'}`
    if (apiVersion !== 'apiextensions.k8s.io/v1') {
      const problem = `it has the version ${JSON.stringify(apiVersion)}`
      throw new CustomTypesError(place, problem, 'give it as apiextensions.k8s.io/v1')
    }
    return [{ place, definition }]
  })
}
