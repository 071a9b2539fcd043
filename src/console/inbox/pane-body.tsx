/** The part of a pane that scrolls, above what can be decided. */
import type { ReactNode } from 'react'

export const PaneBody = ({ says, children }: { says: string; children: ReactNode }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: by keyboard, too, it can be scrolled
  <section className="pane-body" aria-label={says} tabIndex={0}>
    {children}
  </section>
)
