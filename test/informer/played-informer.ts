import { resourceVersion } from 'informerql/informer'
import { type InformerSetting, runInformer, type TestInformer } from '../support/informer.ts'
import { type ScriptedRequest, ScriptedServer } from './scripted-server.ts'

/** An informer that has synced with a server which its test plays. */
export interface Played extends TestInformer {
  readonly server: ScriptedServer
  readonly watch: ScriptedRequest
}

/** Plays a server whose list has these items, up to the watch. */
export async function play(
  items: readonly object[],
  options: Partial<InformerSetting> = {},
): Promise<Played> {
  const server = await ScriptedServer.start()
  const running = runInformer({ server: server.url, ...options })
  const watch = await server.sync('10', items)
  await running.informer.waitForSync({ deadlineMs: 20_000 })
  return {
    ...running,
    server,
    watch,
    [Symbol.asyncDispose]: async () => {
      await running[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

/** Waits until the store is there. */
export const reach = async ({ informer }: TestInformer, version: string): Promise<void> =>
  informer.store.waitForResourceVersion(resourceVersion(version), { deadlineMs: 20_000 })
