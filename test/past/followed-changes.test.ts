import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Fields } from '../gateway/test-cluster.ts'
import type { ServedGateway } from '../support/gateway.ts'
import { core, type PastGateway, startPast, wait } from './past-gateway.ts'

interface Frame {
  readonly reset: boolean
  readonly synced: boolean
  readonly resumeToken: string
  readonly changes: readonly Fields[]
}

/** The frames of a subscription to the changes of ConfigMaps. */
const followed = (
  { connect }: ServedGateway,
  more = '',
): { readonly frames: Frame[]; leave: () => void } => {
  const frames: Frame[] = []
  const leave = connect().subscribe<{ changes: Frame }>(
    {
      query: `subscription { changes(types: ["ConfigMap"], where: { name: { not: { startsWith: "mark" } } }, coalesceMs: 0${more}) {
        reset synced resumeToken changes { id type object { name } fields { after } } incomplete { code } } }`,
    },
    {
      next: ({ data }) => void (data && frames.push(data.changes)),
      error: () => {},
      complete: () => {},
    },
  )
  return { frames, leave }
}

describe('a subscription to changes', () => {
  let past: PastGateway
  beforeAll(async () => {
    past = await startPast()
  })
  afterAll(async () => past[Symbol.asyncDispose]())

  const named = (frames: readonly Frame[]): readonly string[] =>
    frames.flatMap(({ changes }) =>
      changes.toReversed().map(({ type, object }) => `${type} ${object.name}`),
    )

  it('begins with the newest ones, goes on with each further one, and resumes without a loss', async () => {
    const { make, patch, remove, seen, gateway } = past
    await make(`${core}/configmaps`, { metadata: { name: 'a' }, data: { at: '0' } })
    await seen()
    const first = followed(gateway, ', first: 1')
    await vi.waitFor(() => expect(first.frames).toHaveLength(1), wait)
    expect(first.frames[0]).toMatchObject({
      reset: true,
      synced: true,
      changes: [{ type: 'ADDED', object: { name: 'a' } }],
    })
    await patch(`${core}/configmaps/a`, { data: { at: '1' } })
    await vi.waitFor(() => expect(named(first.frames)).toContain('MODIFIED a'), wait)
    first.leave()
    const token = first.frames.at(-1)?.resumeToken ?? ''
    await remove(`${core}/configmaps/a`)
    await make(`${core}/configmaps`, { metadata: { name: 'b' }, data: {} })
    await seen()
    const second = followed(gateway, `, resumeFrom: "${token}"`)
    await vi.waitFor(() => expect(named(second.frames)).toHaveLength(2), wait)
    expect(second.frames.map(({ reset }) => reset)).not.toContain(true)
    expect(named(second.frames)).toEqual(['REMOVED a', 'ADDED b'])
    second.leave()
    const all = named([...first.frames, ...second.frames])
    expect(all).toEqual(['ADDED a', 'MODIFIED a', 'REMOVED a', 'ADDED b'])
  })

  it('begins anew with a token of other arguments, and refuses what is no token', async () => {
    const { gateway } = past
    const other = followed(gateway, ', namespace: "default"')
    await vi.waitFor(() => expect(other.frames).toHaveLength(1), wait)
    const one = followed(gateway, `, resumeFrom: "${other.frames[0]?.resumeToken}"`)
    await vi.waitFor(() => expect(one.frames).toHaveLength(1), wait)
    expect(one.frames[0]?.reset).toBe(true)
    one.leave()
    other.leave()
    const client = gateway.connect()
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const leave = client.subscribe(
      { query: 'subscription { changes(resumeFrom: "nothing") { reset } }' },
      { next: ({ errors }) => resolve(errors), error: resolve, complete: () => resolve(undefined) },
    )
    expect(await promise).toMatchObject([
      { extensions: { code: 'BAD_USER_INPUT', argument: 'resumeFrom' } },
    ])
    leave()
  })

  it('sends hundreds of changes at once in frames of a bounded size, each once', async () => {
    const { make, gateway } = past
    const { frames, leave } = followed(gateway, ', first: 0')
    await vi.waitFor(() => expect(frames).toHaveLength(1), wait)
    const names = Array.from({ length: 120 }, (_, at) => `many-${at}`)
    await Promise.all(names.map((name) => make(`${core}/configmaps`, { metadata: { name } })))
    await vi.waitFor(() => expect(named(frames)).toHaveLength(names.length), wait)
    expect(new Set(named(frames))).toEqual(new Set(names.map((name) => `ADDED ${name}`)))
    leave()
  })
})
