import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { podOf, podsPath } from '../archive/restarted-gateway.ts'
import { created } from '../gateway/created.ts'
import type { Fields } from '../gateway/test-cluster.ts'
import { needsPostgres } from '../support/postgres.ts'
import { agreedHolders, heldAt } from './settled-holders.ts'
import { SharedGateways, type SharingProgram } from './shared-gateways.ts'

const patience = { timeout: 60_000, interval: 50 }
const row = 'nodes { object { name } } incomplete { cluster code from to }'

const namesIn = ({ data }: Fields, field: string): readonly string[] =>
  (data?.[field]?.nodes ?? []).map(({ object }: Fields) => object.name)

/** The gaps of an answer, of one of its fields. */
const gapsIn = ({ data }: Fields, field: string): readonly Fields[] =>
  (data?.[field]?.incomplete ?? []).filter(({ code }: Fields) => code === 'ARCHIVE_GAP')

describe('the past of a cluster whose gateway is killed', needsPostgres, () => {
  it('is not known from its last word on, until the next one has written what followed', async () => {
    await using shared = await SharedGateways.start(6)
    const here = await shared.serve()
    let program: SharingProgram
    let lost: string | undefined
    do {
      program = await shared.program()
      ;[lost] = heldAt(program, await agreedHolders([here, program]))
    } while (lost === undefined)
    const simulator = shared.simulators[shared.names.indexOf(lost)]!
    const since = new Date().toISOString()
    const asked = async (untilMs = Date.now() + 1_000): Promise<Fields> => {
      const until = new Date(untilMs).toISOString()
      return await here.query(`{
          changes(clusters: ["${lost}"], types: ["Pod"], since: "${since}", until: "${until}") { ${row} }
          differences(clusters: ["${lost}"], types: ["Pod"], from: "${since}", to: "${until}") { ${row} }
          object: objectByRef(cluster: "${lost}", apiVersion: "v1", kind: "Pod", namespace: "default", name: "late", at: "${until}") { id }
        }`)
    }
    await created(simulator, podsPath, podOf('early'))
    await expect.poll(async () => namesIn(await asked(), 'changes'), patience).toContain('early')
    // Nothing changes for longer than the writer takes to say what is written.
    const idleMs = Date.now()
    await sleep(8_000)
    program.program.signal('SIGKILL')
    await program.program.ended
    await created(simulator, podsPath, podOf('late'))
    const answers: Fields[] = []
    const before: Fields[] = []
    const isKnown = async (): Promise<boolean> => {
      const answer = await asked()
      answers.push(answer)
      before.push(await asked(idleMs))
      return ['changes', 'differences'].every(
        (field) => namesIn(answer, field).includes('late') && gapsIn(answer, field).length === 0,
      )
    }
    await expect.poll(isKnown, patience).toBe(true)
    for (const answer of answers) {
      const { data, errors = [] } = answer
      const isFailed = (field: string) =>
        errors.some(({ path = [field] }: Fields) => path[0] === field)
      for (const field of ['changes', 'differences']) {
        const gaps = gapsIn(answer, field)
        // Without a gap, it would say that nothing has changed.
        const isTold = namesIn(answer, field).includes('late') || isFailed(field)
        const isMissing = data?.[field]?.incomplete.length > gaps.length
        expect(isTold || isMissing || gaps.length > 0).toBe(true)
        for (const { cluster, from, to } of gaps) {
          expect([cluster, to, Date.parse(from) >= idleMs]).toEqual([lost, null, true])
        }
      }
      // An object as it was is absent only where that is known.
      expect(isFailed('object') || data?.object !== null).toBe(true)
    }
    // What was before its last word is known all the time.
    for (const answer of before) expect(gapsIn(answer, 'changes')).toEqual([])
  }, 240_000)
})
