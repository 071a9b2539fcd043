/**
 * The post as the network will show it, edited in place: a text area over a layer that colours what
 * it says. The area keeps the browser's own undo, spelling, input methods and screen readers.
 */
import { type FocusEvent, useImperativeHandle, useLayoutEffect, useMemo, useRef } from 'react'
import { ariaKeys } from '../../keys/keys.ts'
import { useShortcut } from '../../keys/use-keys.ts'
import { type LayerPiece, type LayerRules, layerPieces } from './text-layer.ts'

const classOf = ({ link, tag, over, unseen }: LayerPiece): string =>
  [link || tag ? 'is-link' : '', over ? 'is-over' : '', unseen ? 'is-unseen' : '']
    .filter(Boolean)
    .join(' ')

const Layer = ({ text, rules }: { text: string; rules: LayerRules }) => {
  const { limit, measure } = rules
  const pieces = useMemo(() => layerPieces(text, { limit, measure }), [text, limit, measure])
  return (
    <div className="layer" aria-hidden="true" dir="auto">
      {pieces.map((piece, index) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces are those of one text, in order
          key={index}
          className={classOf(piece)}
          title={piece.unseen}
        >
          {piece.text}
        </span>
      ))}
      {/* The last line break has a height only if something follows it. */}
      {'\u200b'}
    </div>
  )
}

export interface EditorHandle {
  /** `at`: where the caret goes; the end of the text if it is not given. */
  focus(at?: number): void
}

export interface EditorProps {
  text: string
  rules: LayerRules
  mayEdit: boolean
  label: string
  describedBy: string
  handle: { current: EditorHandle | null }
  change(text: string): void
  /** The focus has left the editor. */
  left(): void
  /** Escape in the editor, after the focus has left it. */
  ended?(): void
  /** ⌘↵ in the editor. */
  approve(): void
}

export const Editor = (props: EditorProps) => {
  const { text, rules, mayEdit, label, describedBy, handle, change, left, approve } = props
  const ref = useRef<HTMLTextAreaElement>(null)
  const isOn = (): boolean => document.activeElement === ref.current
  useImperativeHandle(handle, () => ({
    focus(at = text.length) {
      ref.current?.setSelectionRange(at, at)
      ref.current?.focus()
    },
  }))
  useShortcut('endEditing', () => {
    if (!isOn()) return
    ref.current?.blur()
    props.ended?.()
  })
  useShortcut('approveFromEditor', () => {
    if (isOn()) approve()
  })
  useLayoutEffect(() => {
    // Browsers without `field-sizing` need to be told the height.
    const area = ref.current!
    if (CSS.supports('field-sizing', 'content')) return
    area.style.height = 'auto'
    area.style.height = `${area.scrollHeight + (text.length > 0 ? 0 : 1)}px`
  }, [text])
  return (
    <div className="editor">
      <Layer text={text} rules={rules} />
      <textarea
        ref={ref}
        name="text"
        autoComplete="off"
        className="post-text"
        dir="auto"
        rows={1}
        spellCheck
        readOnly={!mayEdit}
        aria-label={label}
        aria-describedby={describedBy}
        aria-keyshortcuts={ariaKeys('edit')}
        value={text}
        onChange={({ target }) => change(target.value)}
        onBlur={(event: FocusEvent) => {
          if (event.relatedTarget !== ref.current) left()
        }}
      />
    </div>
  )
}
