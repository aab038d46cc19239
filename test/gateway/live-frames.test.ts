// Imports internals: frames are read one by one between two events.
import { expect, it } from 'vitest'
import { buildSchemaModel } from '../../src/graphql/model/schema-model.ts'
import { liveFrames } from '../../src/graphql/operation/live-frames.ts'
import type { Frame } from '../../src/graphql/schema/read-context.ts'
import { everything } from '../../src/query/condition/condition.ts'
import { unrestricted } from '../../src/query/condition/scope.ts'
import { play, reach } from '../informer/played-informer.ts'
import { configMap } from '../informer/scripted-server.ts'
import { capturedOpenApi, capturedResources } from '../schema/captured-cluster.ts'

const shown = (frame: Frame): string[] =>
  frame.changes.map(({ type, object, objectId }) => {
    const row = object === null ? undefined : 'object' in object ? object.object : undefined
    return `${type} ${row?.metadata.uid ?? objectId}`
  })

it('Frames: an object that a frame showed before its addition was read, and that is gone by then, is removed', async () => {
  await using played = await play([configMap('a', '1'), configMap('b', '2')])
  const { informer, watch } = played
  const model = buildSchemaModel({ resources: capturedResources, openapi: capturedOpenApi })
  const kind = model.kindOf('', 'ConfigMap')
  if (kind === undefined) throw new Error('no kind')
  await using frames = liveFrames({
    informer,
    kind,
    cluster: 'test',
    incarnation: '',
    view: informer.store,
    scope: unrestricted,
    condition: everything,
    list: 'all',
    access: '',
    coalesceMs: 0,
    maxFrameObjects: 1,
    work: {},
  })
  const next = async (): Promise<string[]> => {
    const { value } = await frames.next()
    if (value === undefined) throw new Error('the frames have ended')
    return shown(value)
  }
  expect(await next()).toEqual(['ADDED uid-of-a'])
  expect(await next()).toEqual(['ADDED uid-of-b'])
  // One batch of two objects, a frame for each; between them the second is created anew.
  watch.send('MODIFIED', configMap('a', '11')).send('DELETED', configMap('b', '12'))
  await reach(played, '12')
  expect(await next()).toEqual(['MODIFIED uid-of-a'])
  watch.send('ADDED', configMap('b', '13', { uid: 'another' }))
  await reach(played, '13')
  expect(await next()).toEqual(['REMOVED uid-of-b', 'ADDED another'])
  watch
    .send('DELETED', configMap('b', '14', { uid: 'another' }))
    .send('MODIFIED', configMap('a', '15'))
  await reach(played, '15')
  expect(await next()).toEqual(['REMOVED another'])
  expect(await next()).toEqual(['MODIFIED uid-of-a'])
})
