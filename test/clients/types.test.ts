import { beforeAll, describe, expect, it } from 'vitest'
import { generate, generateTada, tadaStart } from './codegen.ts'
import { shopForTests } from './shop.ts'

const podsText = `
  query Pods($first: Int!, $where: PodWhere) {
    pods(first: $first, where: $where) {
      nodes {
        id
        metadata { name labels creationTimestamp }
        status { phase }
        spec { containers { name resources { requests } } }
        ownerChain { kind name object { id } }
        node { status { allocatable } }
      }
      pageInfo { endCursor hasNextPage }
    }
  }`
const framesText = `
  subscription Frames { pods { reset synced changes { type removal objectId object { id metadata { name } } } } }`

/** What a program may do with the answer, and what it may not. */
const use = `
  const pod = answer.pods?.nodes[0]
  export const name: string | undefined = pod?.metadata.name
  export const phase: string | null | undefined = pod?.status?.phase
  export const app: string | undefined = pod?.metadata.labels?.['app']
  export const request: number | string | undefined = pod?.spec?.containers?.[0]?.resources?.requests?.['cpu']
  // @ts-expect-error -- it may be null
  export const surely: string = pod?.status?.phase
  // @ts-expect-error -- there is no such field
  export const unknown: unknown = pod?.phase
`

describe('types of operations', () => {
  const open = shopForTests()
  let sdl = ''

  beforeAll(async () => {
    sdl = await open().schema()
  })

  it('graphql-codegen writes a few kilobytes that compile', async () => {
    const { project } = open()
    const operations = [podsText, framesText]
    const written = await generate(project, { folder: 'generated', sdl, operations })
    expect(written).toBeLessThan(20_000)
    await project.write(
      'codegen.ts',
      `import type { FramesSubscription, PodsQuery, PodsQueryVariables } from './generated/graphql.ts'
       declare const answer: PodsQuery
       declare const frames: FramesSubscription
       export const variables: PodsQueryVariables = { first: 2, where: { restarts: { gt: 3 } } }
       export const removal: 'DELETED' | 'UNMATCHED' | 'HIDDEN' | 'CLUSTER_REMOVED' | null | undefined = frames.pods?.changes[0]?.removal
       ${use}`,
    )
    expect(await project.compile()).toBe('')
  })

  it('graphql-codegen takes fields that are null only by an error as never null', async () => {
    const { project } = open()
    await generate(project, {
      folder: 'generated/strict',
      sdl,
      operations: [podsText],
      config: { nullability: { errorHandlingClient: true } },
    })
    await project.write(
      'strict.ts',
      `import type { PodsQuery } from './generated/strict/graphql.ts'
       declare const answer: PodsQuery
       const spec = answer.pods?.nodes[0]?.spec
       export const name: string | undefined = spec?.containers?.[0]?.name
       // @ts-expect-error -- there may be no requests
       export const requests: Record<string, unknown> | undefined = spec?.containers?.[0]?.resources?.requests
      `,
    )
    expect(await project.compile()).toBe('')
  })

  it('gql.tada types an operation from a file of acceptable size', async () => {
    const { project } = open()
    expect(await generateTada(project, sdl)).toBeLessThan(275_000)
    await project.write(
      'tada.ts',
      `${tadaStart}
       const query = graphql(\`${podsText}\`)
       export const variables: VariablesOf<typeof query> = { first: 2, where: { restarts: { gt: 3 } } }
       declare const answer: ResultOf<typeof query>
       ${use}`,
    )
    expect(await project.compile()).toBe('')
  })
})
