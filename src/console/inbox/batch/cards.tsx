/** The drafts of one batch side by side, each with its whole text. */
import { KeyCaps } from '../../parts/key-caps.tsx'
import { Empty, ReadView } from '../../parts/states.tsx'
import type { Inbox } from '../use-inbox.ts'
import { Card } from './card.tsx'
import type { ShownBatch } from './use-batch.ts'

interface CardsProps {
  inbox: Inbox
  batch: ShownBatch
}

const Head = ({ inbox, batch: { cards } }: CardsProps) => {
  const named = cards[0]?.item.source?.name
  return (
    <div className="page-head">
      <button type="button" className="to-list" onClick={inbox.leaveToList}>
        ‹ Inbox
      </button>
      <span className="head-title batch-title" dir="auto">
        {named ?? 'A batch'}
      </span>
      <span className="soft">
        {cards.length} {cards.length === 1 ? 'draft' : 'drafts'}
      </span>
      <button type="button" className="action plain batch-leave" onClick={inbox.sideBySide}>
        List <KeyCaps of="sideBySide" />
      </button>
    </div>
  )
}

export const Cards = ({ inbox, batch }: CardsProps) => {
  const { cards, read } = batch
  return (
    <>
      <Head inbox={inbox} batch={batch} />
      <ReadView read={read} what="The batch" lines={8}>
        {cards.length === 0 ? (
          <Empty title="No draft of this batch waits">
            <button type="button" className="action plain" onClick={inbox.leaveToList}>
              Back to the list
            </button>
          </Empty>
        ) : (
          <ol className="batch-cards" aria-label="Side by side">
            {cards.map((card, place) => (
              <Card
                key={card.id}
                card={card}
                place={place}
                of={cards.length}
                isChosen={card.id === inbox.chosen?.id}
                choose={inbox.choose}
              />
            ))}
          </ol>
        )}
      </ReadView>
    </>
  )
}
