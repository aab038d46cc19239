// Imports internals: which work has the next turn is seen by nobody outside.
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { nextTurn, Turns } from '../../src/lib/event-loop.ts'

/** Opens two sockets, asks by the one, and by the other while the first question is being answered. */
const client = `
  const { connect } = require('node:net')
  const { workerData: { port, flags } } = require('node:worker_threads')
  const neighbour = connect(port, '127.0.0.1')
  neighbour.on('connect', () => {
    const asker = connect(port, '127.0.0.1')
    asker.on('connect', () => asker.write('long'))
    Atomics.waitAsync(flags, 0, 0).value.then(() => {
      neighbour.write('short', () => {
        Atomics.store(flags, 1, 1)
        Atomics.notify(flags, 1)
      })
    })
  })`

const later = {
  'a work that waits for its turn': (long: () => void): void => {
    const turns = new Turns()
    turns.run(long)
    void turns.enter('one')?.then(() => turns.run(() => long()))
  },
  'what is done in the next turn': (long: () => void): void => {
    long()
    void nextTurn().then(long)
  },
}

it.each(Object.entries(later))(
  'who has asked during a long work is answered before %s',
  async (_, both) => {
    const flags = new Int32Array(new SharedArrayBuffer(8))
    const done: string[] = []
    /** Lasts until the neighbour has asked, the first time. */
    const long = (): void => {
      if (done.length === 0) {
        Atomics.store(flags, 0, 1)
        Atomics.notify(flags, 0)
        Atomics.wait(flags, 1, 0)
        // So long that the next one has to wait.
        Atomics.wait(flags, 0, 1, 20)
      }
      done.push('long')
    }
    const server = createServer((socket) => {
      socket.on('data', (data) => {
        if (data.toString() === 'short') done.push('short')
        else both(long)
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const worker = new Worker(client, { eval: true, workerData: { port, flags } })
    await expect.poll(() => done.length).toBe(3)
    await worker.terminate()
    server.close()
    expect(done).toEqual(['long', 'short', 'long'])
  },
)

it('whoever has one work waits for one of each other lane, however many wait there', async () => {
  const turns = new Turns()
  const done: string[] = []
  const work = (name: string) => (): void => {
    const endMs = performance.now() + 20
    while (performance.now() < endMs);
    done.push(name)
  }
  turns.run(work('first'))
  const many = (lane: string) =>
    Array.from({ length: 5 }, async () => {
      await turns.enter(lane)
      turns.run(work(lane))
    })
  const waiting = [...many('a'), ...many('b')]
  await turns.enter('neighbour')
  turns.run(work('neighbour'))
  expect(done).toEqual(['first', 'a', 'b', 'neighbour'])
  await Promise.all(waiting)
  expect(done.slice(4).join('')).toBe('abababab')
})

it('the users of one lane take turns in it, and what several of them wait for is done with the first', async () => {
  const turns = new Turns()
  const done: string[] = []
  const work = (name: string) => (): void => {
    const endMs = performance.now() + 20
    while (performance.now() < endMs);
    done.push(name)
  }
  turns.run(work('first'))
  const enter = async (name: string, lane: string, users?: readonly string[]): Promise<void> => {
    await turns.enter(lane, users)
    turns.run(work(name))
  }
  await Promise.all([
    ...Array.from({ length: 4 }, async () => enter('mallory', 'subscriptions', ['mallory'])),
    enter('ann', 'subscriptions', ['ann']),
    enter('shared', 'subscriptions', ['mallory', 'ann', 'bob']),
    enter('query', 'queries'),
  ])
  expect(done.join(' ')).toBe('first mallory query ann shared mallory mallory mallory')
})

it('a hundred short works of one lane do not each wait for a long one of another', async () => {
  const turns = new Turns()
  const done: string[] = []
  const work = (name: string, forMs: number) => (): void => {
    const endMs = performance.now() + forMs
    while (performance.now() < endMs);
    done.push(name)
  }
  const many = (lane: string, count: number, forMs: number) =>
    Array.from({ length: count }, async () => {
      await turns.enter(lane)
      turns.run(work(lane, forMs), lane)
    })
  turns.run(work('first', 20))
  const long = many('long', 5, 300)
  await Promise.all(many('short', 100, 1))
  expect(done.filter((name) => name === 'long').length).toBeLessThan(5)
  await Promise.all(long)
})
