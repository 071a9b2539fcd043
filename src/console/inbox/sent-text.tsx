/** A text as it was sent, or may have been: exactly, and with its mark. */
import type { ReactNode } from 'react'
import { ExactText } from '../parts/exact-text.tsx'
import { markOf } from './draft/mark.ts'

interface SentTextProps {
  text: string
  hash: string | null
  /** What stands before the mark: by whom, and when. */
  children?: ReactNode
}

export const SentText = ({ text, hash, children }: SentTextProps) => (
  <article className="post">
    <ExactText text={text} look="post" />
    <p className="post-foot soft">
      {children}
      <span className="mono mark-of" title={hash ?? undefined}>
        {markOf(hash)}
      </span>
    </p>
  </article>
)
