import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { definitionOf, define, versionOf } from '../gateway/definitions.ts'
import { describeClusters, type Fields, inParallel } from '../gateway/test-cluster.ts'
import { type ServedGateway, serveGateway } from '../support/gateway.ts'
import { madeShape } from './made-shapes.ts'
import { problemShapes as ofObjects } from './problem-shapes.ts'
import { causeShapes } from './cause-shapes.ts'
import { relatedShapes } from './related-shapes.ts'
import type { ProblemShape } from './shape-parts.ts'
import { toldShapes } from './told-shapes.ts'

const problemShapes = [...ofObjects, ...causeShapes, ...relatedShapes]

const namespaceOf = (shape: ProblemShape): string => `shape-${problemShapes.indexOf(shape)}`

const rowsIn = (nodes: readonly Fields[]): readonly unknown[] =>
  nodes
    .map(({ object, kind, reason, severity, count }) => [
      `${kind}/${object.name}`,
      reason,
      severity,
      count,
    ])
    .toSorted(byText)

const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)

/** Matches messages of these words, with anything in place of `…`. */
const messageLike = (words: string): RegExp =>
  new RegExp(`^${words.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`).replaceAll('…', '.+')}$`)

const clusterScoped = ({ rows }: ProblemShape): boolean =>
  rows.some(([object]) => /^(?:Node|APIService|\w+WebhookConfiguration)\//.test(object))

describeClusters('What is wrong', (cluster) => {
  let gateway: ServedGateway
  let lateGateway: ServedGateway
  beforeAll(async () => {
    await define(
      cluster(),
      definitionOf('Certificate', 'cert-manager.io', [
        versionOf('v1', {}, { subresources: { status: {} } }),
      ]),
    )
    const rules = {
      type: 'array',
      items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    }
    const routes = definitionOf('HTTPRoute', 'gateway.networking.k8s.io', [
      versionOf('v1', { rules }),
    ])
    // Groups of Kubernetes need it.
    routes['metadata'].annotations = { 'api-approved.kubernetes.io': 'unapproved, for a test' }
    await define(cluster(), routes)
    await inParallel(problemShapes, (shape) => madeShape(cluster(), namespaceOf(shape), shape))
    const clusters = [{ name: 'one', ...cluster().selection }]
    gateway = await serveGateway({ clusters })
    lateGateway = await serveGateway({ clusters, limits: { problemAfterMs: 0 } })
  }, 60_000)
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await lateGateway[Symbol.asyncDispose]()
  })

  const nodes = `nodes { id object { kind namespace name } kind reason severity count
    message since objects { kind namespace name } behind { kind name } }`

  it.each(problemShapes)('is as documented: $wrong', async (shape) => {
    const { wrong, rows, isLate, says, behind } = shape
    const asked = isLate === true ? lateGateway : gateway
    const namespace = namespaceOf(shape)
    const names = rows.map(([object]) => object.split('/')[1])
    const { problems } = clusterScoped(shape)
      ? await asked.data(`{ problems(first: 500) { ${nodes} } }`)
      : await asked.data(`{ problems(namespace: "${namespace}") { ${nodes} } }`)
    const found = clusterScoped(shape)
      ? problems.nodes.filter(({ object }: Fields) =>
          object.namespace === null ? names.includes(object.name) : object.namespace === namespace,
        )
      : problems.nodes
    expect(rowsIn(found)).toEqual(rows.toSorted(byText))
    const { words = '(none)' } = toldShapes[wrong] ?? {}
    const exact = says === undefined ? [] : [says]
    expect(found.slice(0, exact.length).map((one: Fields) => one.message)).toEqual(exact)
    const like = words.startsWith('(') ? /./ : messageLike(words)
    for (const { message } of found.slice(0, 1)) expect(message).toMatch(like)
    const noticed = found[0]?.behind.map((one: Fields) => `${one['kind']}/${one['name']}`)
    expect(behind === undefined ? undefined : noticed).toEqual(behind)
    for (const { objects, count, since } of found) {
      expect(objects).toHaveLength(count)
      expect(Date.parse(since ?? '1970-01-01')).toBeLessThanOrEqual(Date.now())
    }
  })
})

describe('docs/problems.md', () => {
  it('has what is wrong and the rows, as the tests have them', () => {
    const document = readFileSync('docs/problems.md', 'utf8')
    const told = document
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map((line) => line.split('|').map((cell) => cell.trim()))
    for (const { wrong, rows } of problemShapes) {
      const cells = told.filter(([, cell]) => cell === wrong)
      expect(cells, wrong).toHaveLength(1)
      const shown = rows.map(
        ([object, reason, severity]) =>
          `${object.split('/')[0]} \`${reason}\`, ${severity.toLowerCase()}`,
      )
      const { after, words = '', k8sgpt } = toldShapes[wrong] ?? {}
      const quoted = words.startsWith('(') ? words.slice(1, -1) : `\`${words}\``
      const cellsOfRow = [shown.join('; '), after, quoted, k8sgpt]
      expect(cells[0]?.slice(2, -1)).toEqual(shown.length === 0 ? ['none', '', '', ''] : cellsOfRow)
    }
  })
})
