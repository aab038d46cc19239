import type { PortalProviderProps } from './portal-provider.tsx'

/**
 * A view that the portal's page shows among its own: what the `index.js` of a folder of `server.portalViews` exports as
 * `view`. It brings its own libraries, React included.
 */
export interface PortalView {
  /** Its name in the page, for users. */
  readonly title: string
  /** The file of its style sheet, in its folder: `style.css`. */
  readonly style?: string
  /**
   * Shows the view in an element, which has the view's whole place, and returns what removes it. It is called again when
   * the scope of the page changes. `portal` is for {@link PortalProvider}: `<PortalProvider {...portal}>`.
   */
  readonly mount: (element: HTMLElement, portal: PortalOfPage) => () => void
}

/** The page that a view is in: its gateway, its user's token, its scope, and its addresses. */
export type PortalOfPage = Required<
  Pick<PortalProviderProps, 'url' | 'token' | 'onRefused' | 'hrefOf' | 'open'>
> &
  Pick<PortalProviderProps, 'clusters' | 'namespaces'>
