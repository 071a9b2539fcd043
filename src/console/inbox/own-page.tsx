/** What is decided on a page of its own, or by the API alone so far. */
import { ReadView } from '../parts/states.tsx'
import { useEntries } from './entries.ts'
import type { PaneProps } from './pane-props.ts'
import { kindWords } from './words.ts'

const pageOf = ({ kind, id, parent }: NonNullable<PaneProps['entry']>): string | undefined => {
  if (kind === 'call') return `/approvals/${id}`
  if (kind === 'reply') return `/replies/${id}`
  return kind === 'playbook' && parent ? `/playbooks/${parent.id}/versions/${id}` : undefined
}

export const OwnPagePane = ({ entry }: PaneProps) => {
  const read = useEntries({})
  const page = entry && pageOf(entry)
  return (
    <div className="pane-body">
      <ReadView read={read} what="The inbox">
        {entry ? (
          <div className="stack">
            <h2>{kindWords[entry.kind].one}</h2>
            <p className="plain-text" dir="auto">
              {entry.title}
            </p>
            {page ? (
              <p>
                <a href={page}>Decide it on its page</a>
              </p>
            ) : (
              <p className="soft">It is decided by the API or the command line.</p>
            )}
          </div>
        ) : (
          <p>It no longer waits.</p>
        )}
      </ReadView>
    </div>
  )
}
