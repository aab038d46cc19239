import { Link } from '@tanstack/react-router'
import controls from '../look/controls.module.css'
import { Notice } from '../look/notice.tsx'
import { words } from '../words.ts'
import { useViewTitle } from './view-title.ts'

/** Shown for an address that no view has. */
export function NotFound() {
  useViewTitle(words.frame.notFound)
  return (
    <Notice title={words.frame.notFound} isView>
      <Link to="/" className={controls['button']}>
        {words.frame.notFoundNext}
      </Link>
    </Notice>
  )
}
