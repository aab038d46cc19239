import { readFile } from 'node:fs/promises'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type FaultOrder, startSimulator } from 'informerql/simulator'
import { describe, expect, it } from 'vitest'

const execute = promisify(execFile)

const guide = async (): Promise<string> => readFile('docs/simulator.md', 'utf8')

/** The first cells of the table rows behind a heading. */
const namesBehind = (text: string, heading: string): string[] => {
  const [, section = ''] = text.split(`### ${heading}\n`)
  const [own = ''] = section.split('\n#')
  return Array.from(own.matchAll(/^\| `([^`]+)`/gm), ([, name = '']) => name)
}

/** The `type` of each member of a union of faults, and the options that it has besides. */
const faultsOf = (source: string, union: string): Map<string, string[]> => {
  const [, body = ''] = source.split(`export type ${union} =`)
  const [own = ''] = body.split('\n\n')
  return new Map(
    Array.from(own.matchAll(/readonly type: '([^']+)'([^}]*)\}/g), ([, name = '', rest = '']) => [
      name,
      Array.from(rest.matchAll(/readonly (\w+)/g), ([, option = '']) => option),
    ]),
  )
}

describe('The guide of the simulator', () => {
  it('has every fault that there is, with every option, and no other', async () => {
    const text = await guide()
    const source = await readFile('src/simulator/faults/faults.ts', 'utf8')
    const sections = [
      ['Faults of a request', faultsOf(source, 'RequestFault')],
      ['Faults of the server', faultsOf(source, 'ServerFault')],
    ] as const
    for (const [heading, faults] of sections) {
      expect(namesBehind(text, heading).toSorted()).toEqual([...faults.keys()].toSorted())
      expect(faults.size).toBeGreaterThanOrEqual(5)
      for (const [name, options] of faults) {
        const row = text.split('\n').find((line) => line.startsWith(`| \`${name}\``)) ?? ''
        for (const option of options) expect(row, name).toContain(`\`${option}\``)
      }
    }
  })

  it('has an example of every fault, which the server takes', async () => {
    const text = await guide()
    const bodies = Array.from(text.matchAll(/^fault '(.+)'$/gm), ([, body = '']) => body)
    const types = bodies.flatMap((body) =>
      [(JSON.parse(body) as FaultOrder).fault].flat().map(({ type }) => type),
    )
    expect([...new Set(types)].toSorted()).toEqual(
      [
        ...namesBehind(text, 'Faults of a request'),
        ...namesBehind(text, 'Faults of the server'),
      ].toSorted(),
    )
    await using simulator = await startSimulator({
      populate: (storage) => {
        const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker-a-001' } }
        storage.create({ group: '', version: 'v1', resource: 'nodes' }, node)
      },
    })
    for (const body of bodies) {
      // Those would end the order's own connection.
      if (body.includes('-connections"')) continue
      const answer = await fetch(`${simulator.url}/simulator/faults`, { method: 'POST', body })
      expect(answer.status, `${body}: ${await answer.text()}`).toBe(200)
    }
    expect(simulator.faults.pending()).toHaveLength(15)
    simulator.faults.clear()
    for (const type of ['drop-connections', 'freeze-connections'] as const) {
      simulator.faults.inject({ fault: { type } })
    }
  })

  it('has every flag of the command', async () => {
    const text = await guide()
    const { stdout } = await execute(process.execPath, ['src/main.ts', 'simulate', '--help'])
    const own = Array.from(stdout.matchAll(/^ {2}(?:-\w, )?(--.+?) {2}/gm), ([, flag = '']) => flag)
    const documented = Array.from(text.matchAll(/^\| `(--[^`]+)`/gm), ([, flag = '']) => flag)
    expect(documented.toSorted()).toEqual(
      own.filter((flag) => !/^--(?:config|help|version)\b/.test(flag)).toSorted(),
    )
  })
})
