/** When it goes out: the next free times, and what stands around the chosen one. */
import { useId } from 'react'
import { boot } from '../../boot.ts'
import { clockOf, otherZonesOf, When, weekdayOf } from '../../parts/when.tsx'
import type { Neighbour } from './slots.ts'
import type { SlotChoices } from './use-slots.ts'

const Beside = ({ says, post }: { says: string; post: Neighbour | undefined }) => (
  <li>
    <span className="soft">{says}</span>
    {post ? (
      <>
        <When at={post.at} />
        <span className="excerpt" dir="auto">
          {post.excerpt}
        </span>
      </>
    ) : (
      <span className="soft">nothing</span>
    )}
  </li>
)

export const SlotChoice = ({ slots: { offered, chosen, choose } }: { slots: SlotChoices }) => {
  const name = useId()
  if (offered.length === 0)
    return <p className="soft">No free slot in the next 14 days. Approve it without a time.</p>
  return (
    <fieldset className="slots">
      <legend>
        Goes out <span className="soft">{boot.time_zone}</span>
      </legend>
      <div className="slot-row">
        {offered.map(({ at }) => (
          <label key={at} className="slot" title={otherZonesOf(at)}>
            <input
              type="radio"
              name={name}
              className="unseen"
              checked={chosen?.at === at}
              onChange={() => choose(at)}
            />
            <span>{weekdayOf(at)}</span>
            <strong>{clockOf(at)}</strong>
          </label>
        ))}
      </div>
      <ul className="neighbours" aria-label="Around the chosen time">
        <Beside says="Before" post={chosen?.before} />
        <Beside says="After" post={chosen?.after} />
      </ul>
    </fieldset>
  )
}
