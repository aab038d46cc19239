import { createClient, type Client as SocketClient } from 'graphql-ws'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { inParallel } from '../gateway/test-cluster.ts'
import { type App, apps } from './followed-clients.ts'
import { shop as namespace, shopForTests, watchConsole } from './shop.ts'
import type { Pod } from './shop-queries.ts'

const waitMs = { timeout: 60_000 }

/** A socket whose frames wait while its gate is closed. */
function gated(socket: SocketClient) {
  let isOpen = true
  const waiting: (() => void)[] = []
  const pass = (send: () => void): void => {
    if (isOpen) send()
    else waiting.push(send)
  }
  const cuts = new Set<(reason: unknown) => void>()
  const ends = new Set<() => void>()
  const asked: unknown[] = []
  const client: SocketClient = {
    ...socket,
    subscribe(payload, sink) {
      asked.push(payload.variables?.['resumeFrom'] ?? undefined)
      const unsubscribe = socket.subscribe(payload, {
        next: (value) => pass(() => sink.next(value as never)),
        error: (error) => pass(() => sink.error(error)),
        complete: () => pass(() => sink.complete()),
      })
      const cut = (reason: unknown): void => {
        cuts.delete(cut)
        unsubscribe()
        sink.error(reason)
      }
      const end = (): void => {
        cuts.delete(cut)
        ends.delete(end)
        unsubscribe()
        sink.complete()
      }
      cuts.add(cut)
      ends.add(end)
      return () => {
        cuts.delete(cut)
        ends.delete(end)
        unsubscribe()
      }
    },
  }
  return {
    client,
    /** The resume tokens that it has subscribed with. */
    asked,
    cut(reason: unknown = new Error('the connection is cut')) {
      for (const cut of cuts) cut(reason)
    },
    /** Ends all subscriptions without an error, as a gateway may. */
    end() {
      for (const end of ends) end()
    },
    close() {
      isOpen = false
    },
    open() {
      isOpen = true
      for (const send of waiting.splice(0)) send()
    },
  }
}

/** A `fetch` whose answers, once they are there, wait while they are held. */
function heldAnswers() {
  let released: PromiseWithResolvers<void> | undefined
  let held: PromiseWithResolvers<void> | undefined
  return {
    fetch: (async (url, init) => {
      const answer = await fetch(url, init)
      const body = await answer.text()
      held?.resolve()
      await released?.promise
      return new Response(body, { status: answer.status, headers: answer.headers })
    }) as typeof fetch,
    /** Holds the next answers. Resolves when there is one. */
    hold(): Promise<void> {
      released = Promise.withResolvers()
      held = Promise.withResolvers()
      return held.promise
    },
    release() {
      released?.resolve()
      released = held = undefined
    },
  }
}

let labels = 0

describe.each(Object.entries(apps))('a list that is followed in the cache of %s', (_, start) => {
  const shop = shopForTests({ relay: true })
  let app: App

  beforeAll(async () => {
    app = await start(shop())
  })

  /** Pods of an own label, an app with a list of the first three, and what it shows. */
  const opened = async (letters: string, socket?: SocketClient) => {
    const { gateway, addPod, deletePod, labelPod, notePod } = shop()
    const label = `app-${labels++}`
    const add = async (letter: string) => {
      await addPod(`${label}-${letter}`)
      await labelPod(`${label}-${letter}`, label)
    }
    for (const letter of letters) await add(letter)
    const counts = (count: number) =>
      vi.waitFor(async () => {
        const { pods } = await gateway.data(
          `{ pods(labelSelector: "app=${label}") { totalCount } }`,
        )
        expect(pods.totalCount).toBe(count)
      }, waitMs)
    await counts(letters.length)
    const gate = gated(socket ?? gateway.connect())
    const answers = heldAnswers()
    const reach = { url: gateway.url, socket: gate.client, fetch: answers.fetch }
    const list = app.open(reach)({ namespace, labelSelector: `app=${label}` }, 3)
    const lettersOf = (names: readonly string[] = []) =>
      names.map((name) => name.slice(label.length + 1)).join('')
    const names = () => lettersOf(list.page()?.names)
    /** Every state in which the cache says that the list is whole. */
    const whole: string[] = []
    return {
      ...list,
      gate,
      answers,
      names,
      whole,
      counts,
      add,
      sorted: () => names().split('').toSorted().join(''),
      noteWhole: () =>
        list.onChange((page) => {
          if (page?.hasNextPage === false) whole.push(lettersOf(page.names))
        }),
      remove: (letter: string) => deletePod(`${label}-${letter}`),
      relabel: (letter: string) => labelPod(`${label}-${letter}`, 'other'),
      /** Gives a pod another label; its rows show it. */
      note: (letter: string, note: string) => notePod(`${label}-${letter}`, note),
      noteOf: (letter: string) =>
        list.page()?.rows.find(({ metadata }) => metadata.name === `${label}-${letter}`)?.metadata
          .labels['note'],
    }
  }

  it('is whole when it is fetched to its end, whatever came into the pages before', async () => {
    using said = watchConsole()
    const list = await opened('bdfhjln')
    await list.load()
    using following = list.follow()
    list.noteWhole()
    await following.synced
    expect(list.names()).toBe('bdf')
    await list.add('a')
    await list.add('e')
    await vi.waitFor(() => expect(list.page()?.totalCount).toBe(9), waitMs)
    while (await following.fetchMore()) expect(list.page()?.hasNextPage).toBe(true)
    expect(list.sorted()).toBe('abdefhjln')
    expect(list.page()).toMatchObject({ totalCount: 9, hasNextPage: false })
    expect(Math.min(...list.whole.map((one) => one.length))).toBe(9)
    expect(said.lines).toEqual([])
  })

  it('is whole by the pages of the app itself, too', async () => {
    const list = await opened('bdfhjln')
    await list.load()
    using following = list.follow()
    list.noteWhole()
    await following.synced
    await list.add('a')
    await list.remove('d')
    await list.add('c')
    await vi.waitFor(() => expect(list.page()?.totalCount).toBe(8), waitMs)
    while (list.page()?.hasNextPage === true) await list.next()
    expect(list.sorted()).toBe('abcfhjln')
    expect(Math.min(...list.whole.map((one) => one.length))).toBe(8)
  })

  it('is not said to be whole before the frames have what its pages count', async () => {
    const list = await opened('bdfhjln')
    await list.load()
    using following = list.follow()
    list.noteWhole()
    await following.synced
    list.gate.close()
    await list.add('a')
    await list.add('c')
    await list.remove('d')
    await list.counts(8)
    let isDone = false
    const fetched = (async () => {
      while (await following.fetchMore());
      isDone = true
    })()
    await vi.waitFor(() => expect(list.names().length).toBeGreaterThan(5), waitMs)
    expect(isDone).toBe(false)
    expect(list.whole).toEqual([])
    list.gate.open()
    await fetched
    expect(list.sorted()).toBe('abcfhjln')
    expect(Math.min(...list.whole.map((one) => one.length))).toBe(8)
  })

  it('is not said to be whole before the first snapshot, however it is fetched', async () => {
    const list = await opened('bdfhjln')
    await list.load()
    list.gate.close()
    using following = list.follow()
    list.noteWhole()
    await list.add('a')
    await list.counts(8)
    await list.next()
    await list.next()
    await vi.waitFor(() => expect(list.names()).toBe('bdfhjln'), waitMs)
    expect(list.page()?.hasNextPage).toBe(true)
    list.gate.open()
    await following.synced
    await vi.waitFor(() => expect(list.page()?.hasNextPage).toBe(false), waitMs)
    expect(list.sorted()).toBe('abdfhjln')
    expect(Math.min(...list.whole.map((one) => one.length))).toBe(8)
  })

  it('takes out rows that are deleted or match no longer', async () => {
    const list = await opened('abc')
    await list.load()
    using following = list.follow()
    await following.synced
    await list.relabel('a')
    await list.remove('b')
    await vi.waitFor(() => expect(list.names()).toBe('c'), waitMs)
    expect(list.page()).toMatchObject({ totalCount: 1, hasNextPage: false })
  })

  it('joins a new row at its place in an order', async () => {
    const list = await opened('bdf')
    await list.load()
    const byName = (one: Pod, other: Pod) => (one.metadata.name < other.metadata.name ? -1 : 1)
    using following = list.follow({ compare: byName })
    await following.synced
    await list.add('c')
    await list.add('a')
    await vi.waitFor(() => expect(list.names()).toBe('abcdf'), waitMs)
  })

  it('is read by its follower where nobody has read it', async () => {
    const list = await opened('bdfh')
    using following = list.follow()
    await following.synced
    expect(await following.fetchMore()).toBe(true)
    expect(list.names()).toBe('bdf')
    await list.add('a')
    await vi.waitFor(() => expect(list.page()?.totalCount).toBe(5), waitMs)
    expect(await following.fetchMore()).toBe(false)
    expect(list.sorted()).toBe('abdfh')
  })

  it('stays a list of its own when it is closed', async () => {
    const list = await opened('bdfhj')
    await list.load()
    const following = list.follow()
    await following.synced
    await list.add('a')
    await vi.waitFor(() => expect(list.page()?.totalCount).toBe(6), waitMs)
    expect(await following.fetchMore()).toBe(false)
    following.close()
    expect(following.getSnapshot()).toMatchObject({ status: 'closed', error: undefined })
    expect(list.sorted()).toBe('abdfhj')
    await list.add('k')
    await list.counts(7)
    expect(list.sorted()).toBe('abdfhj')
  })

  it('is what its live page is', async () => {
    const list = await opened('bdfh')
    await list.load()
    using following = list.follow({ isPage: true })
    await following.synced
    await list.add('a')
    await vi.waitFor(() => expect(list.names()).toBe('abd'), waitMs)
    expect(list.page()).toMatchObject({ totalCount: 5, hasNextPage: true })
    await expect(following.fetchMore()).rejects.toThrow('a live page has no next page')
  })

  it('goes on from its resume token after a lost connection, through all of its pages', async () => {
    const list = await opened('bdfhj')
    await list.load()
    using following = list.follow()
    list.noteWhole()
    await following.synced
    list.gate.cut()
    expect(following.status).toBe('reconnecting')
    await list.add('a')
    await list.remove('d')
    await vi.waitFor(() => expect(list.page()?.totalCount).toBe(5), waitMs)
    await vi.waitFor(() => expect(list.names()).toBe('bf'), waitMs)
    expect(list.gate.asked).toEqual([undefined, expect.any(String)])
    while (await following.fetchMore());
    expect(list.sorted()).toBe('abfhj')
    list.gate.cut()
    await list.add('k')
    await vi.waitFor(() => expect(list.sorted()).toBe('abfhjk'), waitMs)
    expect(Math.min(...list.whole.map((one) => one.length))).toBe(5)
  })

  it('says when the connection of a client that reconnects by itself is lost, and when it is back', async () => {
    const url = shop().gateway.url.replace('http', 'ws')
    const socket = createClient({ url, webSocketImpl: WebSocket, retryAttempts: Infinity })
    const list = await opened('bd', socket)
    await list.load()
    using following = list.follow({ socket })
    const states: string[] = []
    following.subscribe(() => states.push(following.status))
    await following.synced
    socket.terminate()
    await list.add('a')
    await vi.waitFor(() => expect(list.sorted()).toBe('abd'), waitMs)
    expect(states.slice(-2)).toEqual(['reconnecting', 'live'])
    // Its own client has subscribed again, and not the list.
    expect(list.gate.asked).toHaveLength(1)
    following.close()
    await socket.dispose()
  })

  it.each(['fetchMore', 'next', 'load'] as const)(
    'keeps what frames have brought while an older answer was under way, by %s',
    async (way) => {
      const list = await opened('bdfhj')
      await list.load()
      using following = list.follow()
      const seen = new Set<string | undefined>()
      await following.synced
      const isHeld = list.answers.hold()
      const fetched = way === 'fetchMore' ? following.fetchMore() : list[way]()
      await isHeld
      const [changed, deleted] = way === 'load' ? (['b', 'd'] as const) : (['h', 'j'] as const)
      await list.note(changed, 'newer')
      await list.remove(deleted)
      await vi.waitFor(() => expect(list.page()?.totalCount).toBe(4), waitMs)
      list.onChange((page) => {
        const row = page?.rows.find(({ metadata }) => metadata.name.endsWith(`-${changed}`))
        if (row !== undefined) seen.add(row.metadata.labels['note'])
      })
      list.answers.release()
      await fetched
      expect(list.noteOf(changed)).toBe('newer')
      expect([...seen]).not.toContain(undefined)
      expect(list.names()).not.toContain(deleted)
      while (await following.fetchMore());
      expect(list.sorted()).toBe('bdfhj'.replace(deleted, ''))
      expect(list.noteOf(changed)).toBe('newer')
    },
  )

  it('subscribes again when its subscription is ended without an error', async () => {
    const list = await opened('bdf')
    await list.load()
    using following = list.follow()
    await following.synced
    list.gate.end()
    expect(following.status).toBe('reconnecting')
    await list.add('a')
    await vi.waitFor(() => expect(list.sorted()).toBe('abdf'), waitMs)
    expect(following.status).toBe('live')
    expect(list.gate.asked).toEqual([undefined, expect.any(String)])
  })

  it('may be followed twice, and goes on for the one that stays', async () => {
    const list = await opened('bdfhj')
    await list.load()
    const one = list.follow()
    using other = list.follow()
    await Promise.all([one.synced, other.synced])
    await list.add('a')
    await vi.waitFor(() => expect(list.page()?.totalCount).toBe(6), waitMs)
    one.close()
    await list.remove('d')
    await vi.waitFor(() => expect(list.page()?.totalCount).toBe(5), waitMs)
    while (await other.fetchMore());
    expect(list.sorted()).toBe('abfhj')
    expect(list.page()).toMatchObject({ totalCount: 5, hasNextPage: false })
    await list.add('k')
    await vi.waitFor(() => expect(list.sorted()).toBe('abfhjk'), waitMs)
    expect(other.status).toBe('live')
  })

  it('holds in its cache the rows that are in no page yet, and nothing of those that are gone', async () => {
    const list = await opened('bdfhj')
    await list.load()
    using following = list.follow()
    await following.synced
    await list.add('a')
    await vi.waitFor(() => expect(list.page()?.totalCount).toBe(6), waitMs)
    list.collect?.()
    const before = list.records?.() ?? 0
    const many = Array.from({ length: 260 }).map((__, number) => `m${number}`)
    await inParallel(many, list.add)
    await vi.waitFor(() => expect(list.page()?.totalCount).toBe(6 + many.length), waitMs)
    await inParallel(many, list.remove)
    await vi.waitFor(() => expect(list.page()?.totalCount).toBe(6), waitMs)
    await vi.waitFor(() => expect(list.records?.() ?? 0).toBeLessThan(before + many.length), waitMs)
    while (await following.fetchMore());
    expect(list.sorted()).toBe('abdfhj')
    following.close()
    list.collect?.()
    expect(list.sorted()).toBe('abdfhj')
  })

  it('says why the gateway has closed the connection, and fails where another attempt would not help', async () => {
    const list = await opened('bdf')
    await list.load()
    using following = list.follow()
    await following.synced
    const says = (status: string, message: string) =>
      expect(following.getSnapshot()).toMatchObject({
        status,
        error: { message: expect.stringContaining(message) },
      })
    list.gate.cut({ code: 4403, reason: 'the token has expired' })
    says(
      'reconnecting',
      'the credentials have expired or are not accepted (4403 the token has expired)',
    )
    await vi.waitFor(() => expect(following.status).toBe('live'), waitMs)
    list.gate.cut({ code: 4401, reason: 'no credentials' })
    says('failed', '4401 no credentials')
    expect(list.names()).toBe('bdf')
    using again = list.follow()
    await list.add('k')
    await vi.waitFor(() => expect(list.names()).toBe('bdfk'), waitMs)
    expect(again.status).toBe('live')
  })

  it('says which field its subscription lacks', async () => {
    const list = await opened('a')
    using following = list.follow({ isBroken: true })
    await expect(following.synced).rejects.toThrow('must select `changes { removal }`')
    expect(following.status).toBe('failed')
  })
})
