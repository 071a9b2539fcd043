/** A text as the network will show it, with what is beyond the limit, and what nobody sees. */
import { useMemo } from 'react'
import { type LayerPiece, type LayerRules, layerPieces } from '../draft/text-layer.ts'

const classOf = ({ link, tag, over }: LayerPiece): string | undefined =>
  over ? 'is-over' : link || tag ? 'is-link' : undefined

export const ShownText = ({ text, rules }: { text: string; rules: LayerRules }) => {
  const { limit, measure } = rules
  const pieces = useMemo(() => layerPieces(text, { limit, measure }), [text, limit, measure])
  return (
    <p className="batch-text" dir="auto">
      {pieces.map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the pieces are those of one text, in order
        <span key={index} className={classOf(piece)}>
          {piece.unseen === undefined ? (
            piece.text
          ) : (
            <span className="unseen-run">{piece.unseen}</span>
          )}
        </span>
      ))}
    </p>
  )
}
