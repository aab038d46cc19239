import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import {
  kubectlOfList,
  kubectlOfObject,
  kubectlOfObjects,
} from '../../packages/portal/src/export/kubectl.ts'

/** The arguments that a shell would give kubectl, one list for each command. */
function argumentsOf(commands: string): readonly (readonly string[])[] {
  const script = `kubectl() { printf '%s\\0' "$@"; printf '\\1'; }\n${commands}`
  const { stdout } = spawnSync('sh', ['-c', script], { encoding: 'utf8' })
  return stdout
    .split('\u0001')
    .slice(0, -1)
    .map((one) => one.split('\0').slice(0, -1))
}

describe('a command to copy runs nothing else', () => {
  const names = ['$(id)', '`id`', 'a; id #', "it's", 'a\nid', '--server=evil', 'web']

  it.each(names)('for an object whose name is %j', (name) => {
    const dashes = name.startsWith('-') ? ['--'] : []
    expect(argumentsOf(kubectlOfObject('role', { namespace: 'shop', name }))).toEqual([
      ['get', 'role', '-n', 'shop', '-o', 'yaml', ...dashes, name],
    ])
    const selected = [{ clusterName: 'one two', namespace: 'shop', name }]
    expect(argumentsOf(kubectlOfObjects('roles', selected, true))).toEqual([
      ['--context', 'one two', 'get', 'roles', '-n', 'shop', ...dashes, name],
    ])
  })

  it.each(['\n', '\r', '\u2028'])('for a filter with the line break %j', (lineBreak) => {
    const listed = { resource: 'pods', clusters: undefined, namespaces: undefined, sort: undefined }
    const filter = [{ text: `"a${lineBreak}id"`, where: { name: { contains: `a${lineBreak}id` } } }]
    const commands = kubectlOfList({ ...listed, filter })
    expect(commands.split(/[\n\r\u2028]/)).toEqual([
      '# kubectl cannot do: "a id"',
      'kubectl get pods -A',
      '',
    ])
  })
})
