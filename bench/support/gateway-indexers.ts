import { resourcesByPreference } from '../../src/api-server/discovery/discovery.ts'
import type { ApiServer } from '../../src/api-server/api-server.ts'
import { buildSchemaModel } from '../../src/graphql/model/schema-model.ts'
import { readPackageSdl } from '../../src/graphql/sdl/sdl-source.ts'
import type { Indexers } from '../../src/informer/store/store-view.ts'
import { indexersOf } from '../../src/query/index/index-definition.ts'

/** The indexes of pods that the gateway builds at the start: those of filters. It builds the others on first use. */
export async function gatewayPodIndexers(server: ApiServer): Promise<Indexers> {
  const model = buildSchemaModel({
    resources: resourcesByPreference(await server.discover()),
    openapi: {},
    sdl: await readPackageSdl(),
  })
  const indexes = model.kindOfType('Pod')?.indexes ?? []
  return indexersOf(indexes.filter(({ lazy }) => lazy !== true))
}
