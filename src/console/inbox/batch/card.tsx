/** One draft of a batch, beside the others. */
import { useEffect, useRef } from 'react'
import { measureOf } from '#domain/growth/length/measure-of'
import { speak } from '../../frame/notices.ts'
import { ariaKeys, type ShortcutId } from '../../keys/keys.ts'
import { useShortcut } from '../../keys/use-keys.ts'
import { Icon } from '../../parts/icons.tsx'
import { useStore } from '../../parts/store.ts'
import { useHasSeveralAccounts } from '../accounts.ts'
import { type TextRules, textLimit } from '../draft/checks.ts'
import { markOf } from '../draft/mark.ts'
import { asksReason } from '../draft/reasons.tsx'
import { useRules } from '../draft/use-rules.ts'
import { selection, toggleSelected } from '../selection.ts'
import { wordsOfHook } from '../words.ts'
import { ShownText } from './shown-text.tsx'
import type { BatchCard } from './use-batch.ts'

const pickKeys = [
  'pick1',
  'pick2',
  'pick3',
  'pick4',
  'pick5',
  'pick6',
  'pick7',
  'pick8',
  'pick9',
] as const satisfies readonly ShortcutId[]

const redraftWords = {
  queued: 'Being written again',
  generating: 'Being written again',
  failed: 'Not written again',
}

interface CardProps {
  card: BatchCard
  place: number
  of: number
  isChosen: boolean
  choose(card: BatchCard): void
}

/** Where the limits are not known yet, nothing is beyond them. */
const layerRulesOf = (rules: TextRules | undefined) => ({
  limit: rules ? textLimit(rules) : 0,
  measure: rules && measureOf(rules.limits.counting),
})

const Numbers = ({ card: { item, content_hash }, limit }: { card: BatchCard; limit: number }) => {
  const hook = wordsOfHook(item.hook)
  return (
    <p className="batch-foot soft">
      <span className={limit > 0 && item.length > limit ? 'is-over' : undefined}>
        <strong>{item.length.toLocaleString('en')}</strong>
        {limit > 0 && ` of ${limit.toLocaleString('en')}`}
      </span>
      {hook && <span>{hook}</span>}
      {item.warnings.length > 0 && (
        <span className="row-warning batch-marks" title={item.warnings[0]!.message}>
          <Icon name="warning" /> {item.warnings.length}
          <span className="unseen"> {item.warnings.length === 1 ? 'warning' : 'warnings'}</span>
        </span>
      )}
      {item.comments > 0 && (
        <span className="batch-marks">
          <Icon name="comment" /> {item.comments}
          <span className="unseen"> {item.comments === 1 ? 'comment' : 'comments'}</span>
        </span>
      )}
      <span className="mono mark-of">{markOf(content_hash)}</span>
    </p>
  )
}

const Head = ({ card, place, isChosen, choose }: Omit<CardProps, 'of'>) => {
  const tellsAccount = useHasSeveralAccounts()
  const picked = useStore(selection)
  const shortcut = pickKeys[place]
  return (
    <div className="batch-head">
      <button
        type="button"
        className="batch-pick"
        aria-current={isChosen ? 'true' : undefined}
        aria-keyshortcuts={shortcut && ariaKeys(shortcut)}
        aria-label={`Open draft ${place + 1}: ${card.title}`}
        onClick={() => choose(card)}
      >
        {place + 1}
      </button>
      {card.item.revision > 1 && <span className="row-edited">Edited</span>}
      {card.item.redraft && <span className="row-edited">{redraftWords[card.item.redraft]}</span>}
      {tellsAccount && card.account && <bdi className="batch-account">@{card.account.handle}</bdi>}
      <label className="batch-select">
        <span className="unseen">
          Select: <bdi>{card.title}</bdi>
        </span>
        <input
          type="checkbox"
          name="selected"
          checked={picked.has(card.id)}
          onChange={() => toggleSelected(card)}
        />
      </label>
    </div>
  )
}

export const Card = ({ of, ...card }: CardProps) => {
  const { item, title } = card.card
  const { place, isChosen } = card
  const ref = useRef<HTMLLIElement>(null)
  const shortcut = pickKeys[place]
  const rules = layerRulesOf(useRules(item))
  // While reasons are asked, the digits choose among them.
  const isReason = useStore(asksReason)
  const pick = () => card.choose(card.card)
  useShortcut(shortcut ?? 'pick1', shortcut && !isReason ? pick : undefined)
  useEffect(() => {
    if (!isChosen) return
    ref.current?.scrollIntoView({ block: 'nearest' })
    speak(`Draft ${place + 1} of ${of}: ${title}`)
  }, [isChosen, place, of, title])
  return (
    <li ref={ref} className={`batch-card ${isChosen ? 'is-chosen' : ''}`}>
      <Head {...card} />
      <ShownText text={item.body} rules={rules} />
      {item.rationale && (
        <p className="batch-why soft" dir="auto">
          {item.rationale}
        </p>
      )}
      <Numbers card={card.card} limit={rules.limit} />
    </li>
  )
}
