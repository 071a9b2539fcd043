/** The foot of what can be rejected: the reasons take the place of the buttons. */
import { type ReactNode, useState } from 'react'
import type { OperationId } from '../api/operations.ts'
import { ActionButton } from '../parts/action.tsx'
import { Reasons } from './draft/reasons.tsx'

interface RejectFootProps {
  /** The operation that rejects. */
  calls: OperationId
  says?: string
  reject(reason: string | undefined): void
  /** Next to it. */
  beside?: ReactNode
  /** At the other end: what approves. */
  children: ReactNode
}

export const RejectFoot = ({
  calls,
  says = 'Reject',
  reject,
  beside,
  children,
}: RejectFootProps) => {
  const [rejects, setRejects] = useState(false)
  if (rejects)
    return (
      <div className="pane-foot">
        <Reasons choose={reject} cancel={() => setRejects(false)} />
      </div>
    )
  return (
    <div className="pane-foot">
      <ActionButton calls={calls} shortcut="reject" tone="harm" act={() => setRejects(true)}>
        {says}
      </ActionButton>
      {beside}
      <span className="pane-foot-gap" />
      {children}
    </div>
  )
}
