import { useSyncExternalStore } from 'react'
import type { PortalView } from '../library/portal-view.ts'

/** A view that the operator of the gateway has added: see `server.portalViews`. */
export interface OwnView {
  /** Its part of an address: `/views/NAME`. */
  readonly name: string
  readonly title: string
  /** The address of its style sheet. */
  readonly style: string | undefined
  /** Absent: it could not be loaded. */
  readonly mount: PortalView['mount'] | undefined
  readonly error: Error | undefined
}

const listeners = new Set<() => void>()
/** In the order of the configuration; `undefined` until all of them are here. */
let views: readonly OwnView[] | undefined
let loading: Promise<void> | undefined

async function load(): Promise<void> {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="portal-views"]')
  // Vite's development server leaves the place as it is.
  const names = (meta?.content ?? '').split(' ').filter((name) => /^[a-z0-9-]+$/.test(name))
  views = await Promise.all(names.map(read))
  for (const listener of listeners) listener()
}

async function read(name: string): Promise<OwnView> {
  try {
    const module = (await import(/* @vite-ignore */ `/views/${name}/index.js`)) as {
      readonly view?: PortalView
    }
    const { title, mount, style } = module.view ?? {}
    if (typeof title !== 'string' || typeof mount !== 'function') {
      throw new TypeError(
        `/views/${name}/index.js exports no \`view\` with \`title\` and \`mount\``,
      )
    }
    const sheet = style === undefined ? undefined : `/views/${name}/${style}`
    return { name, title, mount, style: sheet, error: undefined }
  } catch (error) {
    const reason = error instanceof Error ? error : new Error(String(error))
    return { name, title: name, mount: undefined, style: undefined, error: reason }
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  loading ??= load()
  return () => listeners.delete(listener)
}

/** The views that the operator has added; `undefined` while they are on their way. */
export function useOwnViews(): readonly OwnView[] | undefined {
  return useSyncExternalStore(subscribe, () => views)
}
