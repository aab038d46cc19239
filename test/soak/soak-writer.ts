import { setTimeout as sleep } from 'node:timers/promises'
import type { ControlPlane } from '../support/control-plane.ts'
import { seededRandom } from '../support/random.ts'
import { collectionPath, type SoakKind, soakKinds, soakNamespaces } from './fleet-member.ts'
import { pick } from './pick.ts'

const namesPerNamespace = 20

/** Creates an object, or leaves it as it is, and answers with what the server said. */
export async function created(plane: ControlPlane, path: string, body: object): Promise<unknown> {
  const answer = await plane.request(path, { method: 'POST', body })
  if (answer.status !== 201 && answer.status !== 409) throw new Error(`${path}: ${answer.text}`)
  return answer.json()
}

/** Writes objects of all kinds of the soak: the same ones again and again, so that there are always as many. */
export class SoakWriter {
  readonly #plane: ControlPlane
  readonly #random: () => number
  #writes = 0

  constructor(plane: ControlPlane, seed: number) {
    this.#plane = plane
    this.#random = seededRandom(seed)
  }

  /** How many writes the server has accepted. */
  get writes(): number {
    return this.#writes
  }

  /** Creates whatever is not there. */
  async fill(): Promise<void> {
    for (const name of soakNamespaces) {
      await created(this.#plane, '/api/v1/namespaces', { metadata: { name } })
    }
    await Promise.all(soakKinds.map(async (kind) => this.#fillKind(kind)))
  }

  /** Updates, deletes and creates until told to stop; a server that is not there is waited for. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (await this.#write()) this.#writes += 1
      } catch {
        await sleep(50)
      }
    }
  }

  async #fillKind(kind: SoakKind): Promise<void> {
    for (const namespace of soakNamespaces) {
      for (let number = 0; number < namesPerNamespace; number++) {
        await this.#create(kind, namespace, `n${number}`)
      }
    }
  }

  async #create(kind: SoakKind, namespace: string, name: string): Promise<void> {
    const labels = { on: pick(this.#random, ['yes', 'no']) }
    const body = { ...kind.body, metadata: { name, labels } }
    await created(this.#plane, collectionPath(kind, namespace), body)
  }

  /** Whether the server took it: what a killed server has deleted may not be there to be changed. */
  async #write(): Promise<boolean> {
    const kind = pick(this.#random, soakKinds)
    const namespace = pick(this.#random, soakNamespaces)
    const name = `n${Math.floor(this.#random() * namesPerNamespace)}`
    const path = `${collectionPath(kind, namespace)}/${name}`
    if (this.#random() < 0.15) {
      await this.#plane.request(path, { method: 'DELETE' })
      await this.#create(kind, namespace, name)
      return true
    }
    const labels = this.#random() < 0.2 ? { on: pick(this.#random, ['yes', 'no']) } : {}
    const annotations = { round: String(this.#writes % 1000).padStart(4, '0') }
    const { status } = await this.#plane.request(path, {
      method: 'PATCH',
      contentType: 'application/merge-patch+json',
      body: { metadata: { labels, annotations } },
    })
    return status === 200
  }
}
