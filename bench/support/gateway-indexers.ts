import { preferredResources } from '../../src/api-server/discovery/discovery.ts'
import type { ApiServer } from '../../src/api-server/api-server.ts'
import { buildSchemaModel } from '../../src/graphql/model/schema-model.ts'
import { readPackageSdl } from '../../src/graphql/sdl/sdl-source.ts'
import type { Indexers } from '../../src/informer/store/store-view.ts'
import { indexersOf } from '../../src/query/index/index-definition.ts'
import { compileRelations, indexersFor } from '../../src/query/relation/relations.ts'

/** The indexes that the gateway has on pods: those that filters need, and those that relations need. */
export async function gatewayPodIndexers(server: ApiServer): Promise<Indexers> {
  const model = buildSchemaModel({
    resources: preferredResources(await server.discover()),
    openapi: {},
    sdl: await readPackageSdl(),
  })
  const kinds = new Map(model.kinds.map((kind) => [kind.typeName, kind]))
  const relations = compileRelations(model.relations, {
    isNamespaced: (type) => kinds.get(type)?.resource.namespaced ?? true,
  })
  return {
    ...indexersOf(kinds.get('Pod')?.indexes ?? []),
    ...indexersFor(relations.values(), 'Pod'),
  }
}
