/**
 * A view of a team's own in the page of the portal: its name stands in the portal's menu, and `/views/on-call` shows it.
 * Build it, and name its folder where the gateway is configured:
 *
 *     npx vite build --config examples/portal-view/on-call.config.ts
 *     server: { portalViews: [dist/examples/on-call] }
 */
import '@informerql/portal/style.css'
import { KindTable, PortalProvider, type PortalView } from '@informerql/portal'
import { createRoot } from 'react-dom/client'

export const view: PortalView = {
  title: 'On call',
  style: 'style.css',
  mount(element, portal) {
    const root = createRoot(element)
    root.render(
      <PortalProvider {...portal}>
        <KindTable resource="pods" view={{ q: 'health:degraded', sort: '-restarts' }} />
      </PortalProvider>,
    )
    return () => root.unmount()
  },
}
