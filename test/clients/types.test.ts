import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { minifyIntrospection, outputIntrospectionFile } from '@gql.tada/internal'
import { preset } from '@graphql-codegen/client-preset'
import { codegen } from '@graphql-codegen/core'
import { buildASTSchema, introspectionFromSchema, parse } from 'graphql'
import { beforeAll, describe, expect, it } from 'vitest'
import { shopForTests } from './shop.ts'

/** As docs/clients.md has them. */
const codegenScalars = {
  DateTime: 'string',
  Int64: { input: 'number | string', output: 'number' },
  IntOrString: 'number | string',
  JSON: 'unknown',
  Quantity: 'number | string',
  QuantityMap: 'Record<string, number | string>',
  StringMap: 'Record<string, string>',
}

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
    const schema = parse(sdl)
    const documents = [podsText, framesText].map((rawSDL, position) => ({
      rawSDL,
      document: parse(rawSDL),
      location: `${position}.ts`,
    }))
    await mkdir(join(project.dir, 'generated'))
    const files = await preset.buildGeneratesSection({
      baseOutputDir: 'generated/',
      schema,
      schemaAst: buildASTSchema(schema),
      documents,
      config: { scalars: codegenScalars, strictScalars: true, useTypeImports: true },
      presetConfig: { fragmentMasking: false },
      plugins: [],
      pluginMap: {},
    })
    let written = 0
    for (const file of files) {
      const text = await codegen(file)
      written += text.length
      await project.write(file.filename, text)
    }
    expect(written).toBeLessThan(20_000)
    await project.write(
      'codegen.ts',
      `import type { FramesSubscription, PodsQuery, PodsQueryVariables } from './generated/graphql.ts'
       declare const answer: PodsQuery
       declare const frames: FramesSubscription
       export const variables: PodsQueryVariables = { first: 2, where: { restarts: { gt: 3 } } }
       export const removal: 'DELETED' | 'UNMATCHED' | 'HIDDEN' | null | undefined = frames.pods?.changes[0]?.removal
       ${use}`,
    )
    expect(await project.compile()).toBe('')
  })

  it('graphql-codegen takes fields that are null only by an error as never null', async () => {
    const { project } = open()
    await mkdir(join(project.dir, 'generated', 'strict'), { recursive: true })
    const nullability = { errorHandlingClient: true }
    const files = await preset.buildGeneratesSection({
      baseOutputDir: 'generated/strict/',
      schema: parse(sdl),
      schemaAst: buildASTSchema(parse(sdl)),
      documents: [{ rawSDL: podsText, document: parse(podsText), location: '0.ts' }],
      config: { scalars: codegenScalars, strictScalars: true, useTypeImports: true, nullability },
      presetConfig: { fragmentMasking: false },
      plugins: [],
      pluginMap: {},
    })
    for (const file of files) await project.write(file.filename, await codegen(file))
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
    const introspection = introspectionFromSchema(buildASTSchema(parse(sdl)), {
      descriptions: false,
    })
    const text = outputIntrospectionFile(minifyIntrospection(introspection), {
      fileType: '.d.ts',
      shouldPreprocess: true,
    })
    await project.write('graphql-env.d.ts', text)
    const { size } = await stat(join(project.dir, 'graphql-env.d.ts'))
    expect(size).toBeLessThan(200_000)
    await project.write(
      'tada.ts',
      `import { initGraphQLTada, type ResultOf, type VariablesOf } from 'gql.tada'
       import type { introspection } from './graphql-env.d.ts'
       const graphql = initGraphQLTada<{
         introspection: introspection
         scalars: {
           DateTime: string
           Int64: number
           IntOrString: number | string
           JSON: unknown
           Quantity: number | string
           QuantityMap: Record<string, number | string>
           StringMap: Record<string, string>
         }
       }>()
       const query = graphql(\`${podsText}\`)
       export const variables: VariablesOf<typeof query> = { first: 2, where: { restarts: { gt: 3 } } }
       declare const answer: ResultOf<typeof query>
       ${use}`,
    )
    expect(await project.compile()).toBe('')
  })
})
