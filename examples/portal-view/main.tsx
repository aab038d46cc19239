/**
 * The page of a team's own that shows parts of the portal: a live table, and what is around the workload that is chosen
 * in it. Beside a running gateway (`npm start`):
 *
 *     npx vite examples/portal-view
 */
import '@informerql/portal/style.css'
import './page.css'
import { KindTable, ObjectGraph, ObjectView, PortalProvider, type Target } from '@informerql/portal'
import { StrictMode, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'

/** What this team knows and the cluster does not. */
const team = { name: 'Payments', namespaces: ['payments'], onCall: 'Ada, until Thursday' }

// Vite hands /graphql on to the gateway (vite.config.ts); another one may be named: ?gateway=https://host/graphql
const gateway = new URLSearchParams(location.search).get('gateway') ?? '/graphql'

/** The object that the address names: `#ID`. Without one, the page shows its list. */
const objectOfAddress = (): string => decodeURIComponent(location.hash.slice(1))

const hashOf = (target: Target): string =>
  target !== 'overview' && 'object' in target ? `#${encodeURIComponent(target.object)}` : '#'

function Page() {
  const [shown, setShown] = useState(objectOfAddress)
  useEffect(() => {
    const changed = (): void => setShown(objectOfAddress())
    window.addEventListener('hashchange', changed)
    return () => window.removeEventListener('hashchange', changed)
  }, [])
  return (
    <PortalProvider
      url={gateway}
      namespaces={team.namespaces}
      // Wherever a component links to, the link stays in this page.
      hrefOf={hashOf}
      open={(target) => {
        location.hash = hashOf(target)
      }}
    >
      <header className="team">
        <strong>{team.name}</strong> On call: {team.onCall}
      </header>
      {shown === '' ? (
        <Workloads />
      ) : (
        <ObjectView
          key={shown}
          id={shown}
          onClose={() => {
            location.hash = ''
          }}
        />
      )}
    </PortalProvider>
  )
}

/** The team's workloads, and what is around the one that is chosen. */
function Workloads() {
  const [chosen, choose] = useState<string>()
  return (
    <main className="workloads">
      <section className="place" aria-label="Workloads">
        <KindTable resource="deployments.apps" onView={({ open }) => choose(open)} />
      </section>
      {chosen === undefined ? null : (
        <section className="place" aria-label="Around it">
          <ObjectGraph roots={[chosen]} />
        </section>
      )}
    </main>
  )
}

const root = document.querySelector('#root')
if (root === null) throw new Error('the page has no #root')
createRoot(root).render(
  <StrictMode>
    <Page />
  </StrictMode>,
)
