import type { Client as SocketClient } from 'graphql-ws'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { type App, apps } from './followed-clients.ts'
import { shopForTests, watchConsole } from './shop.ts'
import type { Pod } from './shop-queries.ts'

const waitMs = { timeout: 10_000 }

/** A socket whose frames wait while its gate is closed. */
function gated(socket: SocketClient) {
  let isOpen = true
  const waiting: (() => void)[] = []
  const pass = (send: () => void): void => {
    if (isOpen) send()
    else waiting.push(send)
  }
  const cuts = new Set<() => void>()
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
      const cut = (): void => {
        cuts.delete(cut)
        unsubscribe()
        sink.error(new Error('the connection is cut'))
      }
      cuts.add(cut)
      return () => {
        cuts.delete(cut)
        unsubscribe()
      }
    },
  }
  return {
    client,
    /** The resume tokens that it has subscribed with. */
    asked,
    cut() {
      for (const cut of cuts) cut()
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

let labels = 0

describe.each(Object.entries(apps))('a list that is followed in the cache of %s', (_, start) => {
  const shop = shopForTests({ relay: true })
  let app: App

  beforeAll(async () => {
    app = await start(shop())
  })

  /** Pods of an own label, an app with a list of the first three, and what it shows. */
  const opened = async (letters: string) => {
    const { gateway, addPod, deletePod, labelPod } = shop()
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
    const gate = gated(gateway.connect())
    const list = app.open(gate.client, `app=${label}`, 3)
    const lettersOf = (names: readonly string[] = []) =>
      names.map((name) => name.slice(label.length + 1)).join('')
    const names = () => lettersOf(list.page()?.names)
    /** Every state in which the cache says that the list is whole. */
    const whole: string[] = []
    return {
      ...list,
      gate,
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

  it('says which field its subscription lacks', async () => {
    const list = await opened('a')
    using following = list.follow({ isBroken: true })
    await expect(following.synced).rejects.toThrow('must select `changes { removal }`')
    expect(following.status).toBe('failed')
  })
})
