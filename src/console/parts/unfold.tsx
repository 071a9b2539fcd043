/** What is read and shown only once somebody unfolds it. */
import { type ReactNode, useState } from 'react'

interface UnfoldProps {
  summary: ReactNode
  className?: string
  children(): ReactNode
}

export const Unfold = ({ summary, className, children }: UnfoldProps) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className={className} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{summary}</summary>
      {isOpen && children()}
    </details>
  )
}
