import { type Fields, fieldsOf } from '../../kubernetes/fields.ts'

/**
 * A command line that Secrets may tell the gateway to run, in the form of a shell: variables that a Secret may set, the
 * program, and its exact arguments. In `AWS_PROFILE=* aws eks get-token --cluster-name *`, a `*` at the end of a word
 * stands for any text, and a `*` alone for any argument that is no option.
 */
interface CommandLine {
  readonly variables: readonly string[]
  readonly program: string
  readonly args: readonly string[]
}

/** Reads a command line; returns `undefined` if it has no program. */
export function commandLineOf(text: string): CommandLine | undefined {
  const words = text.split(/\s+/).filter((word) => word !== '')
  const at = words.findIndex((word) => !/^\w+=/.test(word))
  const program = words[at]
  if (program === undefined || program.includes('*')) return undefined
  return { variables: words.slice(0, at), program, args: words.slice(at + 1) }
}

/** Whether any command line allows the `exec` of a kubeconfig with these arguments and variables. */
export function isAllowed(exec: Fields, allowed: readonly string[]): boolean {
  const { command, args, env } = exec
  const given = listOf(args)
  const variables = listOf(env).flatMap((variable) => {
    const { name, value } = fieldsOf(variable)
    // The gateway sets this variable last, to tell the plugin about the cluster.
    return name === 'KUBERNETES_EXEC_INFO' ? [] : `${String(name)}=${String(value)}`
  })
  return allowed.some((text) => {
    const line = commandLineOf(text)
    return (
      line !== undefined &&
      line.program === command &&
      line.args.length === given.length &&
      line.args.every((pattern, at) => isArgument(pattern, given[at])) &&
      variables.every((variable) => line.variables.some((one) => matches(one, variable)))
    )
  })
}

function listOf(value: unknown): readonly unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

function isArgument(pattern: string, given: unknown): boolean {
  if (typeof given !== 'string' || (pattern === '*' && given.startsWith('-'))) return false
  return matches(pattern, given)
}

function matches(pattern: string, text: string): boolean {
  return pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern
}
