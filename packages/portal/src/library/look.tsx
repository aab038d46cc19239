import '../look/base.css'
import type { ReactNode } from 'react'

/** The colours and sizes of a component. It fills its place. */
export function Look({ children }: { readonly children: ReactNode }) {
  return (
    <div className="informerql" style={{ height: '100%', minHeight: 0, minWidth: 0 }}>
      {children}
    </div>
  )
}
