/**
 * The parts of the portal as React components, for pages of one's own: `@informerql/portal`.
 *
 * Each needs a {@link PortalProvider} above it, which says which gateway it asks and where its links lead, and the
 * styles: `import '@informerql/portal/style.css'`.
 */
export type { Target } from '../scope.ts'
export type { PortalView } from './portal-view.ts'
export { PortalProvider, type PortalProviderProps } from './portal-provider.tsx'
export { KindTable, type KindTableProps, type TableView } from './kind-table.tsx'
export { ObjectView, type ObjectViewProps, type ObjectTab } from './object-view.tsx'
export { ObjectGraph, type ObjectGraphProps } from './object-graph.tsx'
