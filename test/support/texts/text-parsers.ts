/**
 * Every function that reads words of others on the event loop: those of strangers, models,
 * channels, MCP servers, documents, pages and networks. `most`: the longest text that reaches it in
 * one turn of the loop, in characters, as its callers bound it.
 */
import { channelNames } from '#contract/channel-names'
import { partsOf, plainPartsOf } from '#domain/agent/channel/forms/parts'
import { codeIn } from '#domain/agent/channel/identity'
import { messageContent } from '#domain/agent/channel/message'
import { titleOf } from '#domain/agent/conversation'
import { commandLine } from '#domain/agent/job/command'
import { HandleBook } from '#domain/agent/job/handles'
import { answerByRules } from '#domain/agent/job/tasks/rules'
import { stripBrackets } from '#domain/agent/knowledge/document'
import { memoryHash } from '#domain/agent/knowledge/memory'
import { PASSAGE_LENGTH, passagesOf } from '#domain/agent/knowledge/passages'
import { quotationOf, quotationsIn } from '#domain/agent/knowledge/quoting'
import { answerOf } from '#domain/agent/mcp/foreign-result'
import { parametersOf } from '#domain/agent/mcp/foreign-schema'
import { cleanText } from '#domain/agent/mcp/foreign-text'
import { foreignTools } from '#domain/agent/mcp/foreign-tools'
import { cleanedOf } from '#domain/agent/mcp/secrets'
import { wordDiff } from '#domain/agent/word-diff'
import { editArticle } from '#domain/growth/drafting/article-text'
import { checkRules, noRules } from '#domain/growth/drafting/format-rules'
import { searchWords } from '#domain/growth/drafting/item-words'
import { findLinks } from '#domain/growth/drafting/links'
import { mayHaveMarks } from '#domain/growth/drafting/marks'
import { containsPhrase } from '#domain/growth/drafting/phrase'
import { printsOf } from '#domain/growth/drafting/prints'
import { recogniseForm } from '#domain/growth/drafting/recognised'
import { tidyTags, writtenText } from '#domain/growth/drafting/written-text'
import { featuresOf } from '#domain/growth/learning/post-features'
import { normalHandle } from '#domain/growth/learning/target'
import { graphemeLength } from '#domain/growth/length/grapheme-length'
import { weightedLength } from '#domain/growth/length/weighted-length'
import { excerpt, termsOf, wordLine, wordsOf } from '#domain/growth/reading/words'
import { contentDisposition } from '#edge/disposition'
import { Quotation } from '#edge/mcp/answer/quotation'
import { tokensGuessed } from '#edge/mcp/answer/token-guess'
import { html, markupOf } from '#edge/pages/html'
import { fileNameOf } from '#kernel/file-name'
import { normalForm } from '#kernel/normal-form'
import { isInvisible, isLonger, plainText, strangeCharacter } from '#kernel/plain-text'
import { MARKS, placesOfMarks, spacedWords } from '#kernel/spacing'
import { storable } from '#kernel/storable'
import { firstUnseen, unseenCount, withCodes } from '#kernel/unseen'
import { csvLine } from '#ops/engine/csv'
import { mailboxOf } from '#port/channel/email/address'
import { headersOf, isAutomatic, mailThread } from '#port/channel/email/headers'
import { withoutQuotes } from '#port/channel/email/quotes'
import { mailSubject, wordsOfText } from '#port/channel/email/text'
import { parseMultipart as multipartOf } from '#port/channel/multipart'
import { plainTextOf } from '#port/channel/slack/text'
import { textOfBytes } from '#port/egress/charset'
import { describeResult as deskText } from '#port/model/desk/plain-text'
import { questionIn } from '#port/model/desk/questions'
import { jsonIn } from '#port/model/openai/answer'
import { mentionsIn } from '#port/network/bluesky/rich-text'
import { fingerprintText } from '#port/network/text'

export interface TextParser {
  name: string
  most: number
  /** Below this length, a character takes less time, for example because nothing is cut yet. */
  least?: number
  /** `given`: what `prepare` has made of the text, which does not count here. */
  read(text: string, given: string): unknown
  prepare?(text: string): string
  /** It takes quadratic time, and has its own bound for that. */
  isBounded?: true
  /** It runs in the thread for texts (src/port/texts/), where no event loop waits. */
  isBeside?: true
}

/** The longest post, article or engagement. */
const ITEM = 25_000
/** The longest message to the agent, from the app or a channel. */
const MESSAGE = 10_000
const NOW = new Date('2026-11-26T12:00:00Z')
const PLAIN = { hook: '', format: '', learnings: [], posted_at: NOW }

/**
 * It works in steps, between which others have their turn. Only the longest step counts, so this is
 * one section of a document.
 */
const passages = (text: string): unknown => {
  let last: unknown
  for (const passage of passagesOf(text, true)) last = passage ?? last
  return last
}

const halves = (text: string): [string, string] => [
  text.slice(0, text.length / 2),
  text.slice(text.length / 2),
]

const task = (text: string) => ({
  item: { type: 'extract_action_items' as const, max_attempts: 1, input: { text } },
  label: {
    type: 'classify_text' as const,
    max_attempts: 1,
    input: { text, labels: [{ name: 'a' }, { name: 'soll', examples: [text.slice(0, 1_000)] }] },
  },
})

const message = (text: string) => ({
  subject: text.slice(0, 300),
  text,
  attachments: [],
  error: null,
})

const mail = (text: string) => {
  const headers = headersOf([
    ['references', text],
    ['message-id', text],
    ['precedence', text],
    ['auto-submitted', text],
    ['return-path', text],
    ['content-type', text],
    ['x-auto-response-suppress', text],
  ])
  return [mailThread(headers), isAutomatic(headers)]
}

const multipart = (text: string) => {
  const body = Buffer.from(
    `--x\r\nContent-Disposition: form-data${text.slice(0, 4_000)}; name="a"\r\n\r\n${text}\r\n--x--`,
  )
  return multipartOf(body, 'multipart/form-data; boundary=x', 100)
}

const toolSchema = (text: string) => ({
  type: 'object',
  description: text,
  properties: {
    [text.slice(0, 60)]: { type: 'string', pattern: text, description: text, enum: [text] },
  },
})

/** For a call: as many texts as fit in it, each of which could be a handle. */
const called = (text: string) => {
  const few = text.match(/[\s\S]{1,8}/gu) ?? []
  return new HandleBook({ 'item:1': '01890000-0000-7000-8000-000000000001' }).resolve(
    { texts: few, body: text },
    text,
  )
}

const marked = (text: string): string => `${MARKS[0]}${spacedWords(text)}${MARKS[1]}`

export const textParsers: readonly TextParser[] = [
  // Names, marks and hidden characters.
  { name: 'unseenCount', most: 100_000, read: unseenCount },
  { name: 'firstUnseen', most: 100_000, read: firstUnseen },
  { name: 'withCodes', most: 100_000, read: withCodes },
  { name: 'html', most: 100_000, read: (text) => markupOf(html`<p>${text}</p>`) },
  {
    name: 'plainText',
    most: MESSAGE,
    read: (text) => [
      plainText(text),
      isLonger(text, 200),
      isInvisible(text),
      strangeCharacter(text),
    ],
  },
  { name: 'fileNameOf', most: MESSAGE, read: fileNameOf },
  { name: 'contentDisposition', most: 240, read: contentDisposition },
  { name: 'storable', most: 1_000_000, read: storable },
  { name: 'spacedWords', most: ITEM, read: spacedWords },
  { name: 'placesOfMarks', most: 20_000, prepare: marked, read: placesOfMarks },
  // Conversations.
  { name: 'commandLine', most: MESSAGE, read: commandLine },
  { name: 'titleOf', most: MESSAGE, read: titleOf },
  { name: 'questionIn', most: MESSAGE, read: questionIn },
  { name: 'memoryHash', most: 1_000, read: memoryHash },
  {
    name: 'quotationsIn',
    most: 20_000,
    prepare: marked,
    read: (_, given) => quotationsIn(given, { source: 'x', tool: 'y', untrusted: false }),
  },
  {
    name: 'quotationOf',
    most: PASSAGE_LENGTH,
    read: (text) => quotationOf(marked(text), { source: 'x', tool: 'y', untrusted: false }),
  },
  { name: 'extract_action_items', most: 50_000, read: (text) => answerByRules(task(text).item) },
  { name: 'classify_text', most: 50_000, read: (text) => answerByRules(task(text).label) },
  { name: 'wordDiff', most: 40_000, isBounded: true, read: (text) => wordDiff(...halves(text)) },
  { name: 'arguments of a call', most: 100_000, read: called },
  { name: 'deskText', most: 48_000, read: deskText },
  { name: 'jsonIn', most: 1_048_576, read: jsonIn },
  // Documents.
  { name: 'passages of a section', most: 100_000, least: 2 * PASSAGE_LENGTH, read: passages },
  { name: 'enclosed', most: MESSAGE, read: stripBrackets },
  // Channels.
  ...channelNames.map((channel) => ({
    name: `plain parts, ${channel}`,
    most: 100_000,
    read: (text: string) => plainPartsOf(channel, text),
  })),
  ...(['slack', 'email'] as const).map((channel) => ({
    name: `parts, ${channel}`,
    most: 100_000,
    isBeside: true as const,
    read: (text: string) => partsOf(channel, text),
  })),
  { name: 'codeIn', most: MESSAGE, read: codeIn },
  { name: 'contentOf', most: 40_000, read: (text) => messageContent(message(text)) },
  { name: 'text of Slack', most: 40_000, read: (text) => plainTextOf(text, 'U1') },
  { name: 'mentions of Slack', most: 40_000, read: (text) => plainTextOf(text, 'U012AB') },
  { name: 'withoutQuotes', most: 200_000, read: (text) => withoutQuotes(text) },
  {
    name: 'wordsOfText',
    most: 200_000,
    read: (text) => wordsOfText(text, text.slice(0, 300), { isHtml: true }),
  },
  { name: 'subjectOf', most: 16_000, read: mailSubject },
  { name: 'mailboxOf', most: 16_000, read: mailboxOf },
  { name: 'headers of a mail', most: 16_000, read: mail },
  { name: 'multipart', most: 1_000_000, read: multipart },
  // MCP servers and pages.
  { name: 'cleanText', most: 100_000, read: (text) => cleanText(text, 500) },
  {
    name: 'answer of a tool',
    most: 1_000_000,
    read: (text) => answerOf({ content: [{ type: 'text', text }], structuredContent: { text } }),
  },
  {
    name: 'answer of links',
    most: 100_000,
    read: (text) => answerOf({ content: [{ type: 'resource_link', uri: text, title: text }] }),
  },
  { name: 'schema of a tool', most: 16_000, read: (text) => parametersOf(toolSchema(text)) },
  {
    name: 'tools of a server',
    most: 16_000,
    read: (text) =>
      foreignTools('x', [{ name: text, description: text, inputSchema: toolSchema(text) }]),
  },
  {
    name: 'secrets in answers',
    most: 100_000,
    read: (text) => cleanedOf({ text }, ['aaaaaaaaaaaa', '\\\\\\\\\\\\\\\\', '((((((((((']),
  },
  {
    name: 'textOfBytes',
    most: 1_000_000,
    read: (text) => textOfBytes(Buffer.from(text), text.slice(0, 1_000)),
  },
  { name: 'tokensGuessed', most: 60_000, read: tokensGuessed },
  { name: 'Quotation', most: 60_000, read: (text) => new Quotation().quote(text) },
  // Posts, and those of strangers.
  { name: 'searchWords', most: ITEM, read: searchWords },
  { name: 'printsOf', most: ITEM, read: printsOf },
  { name: 'marks', most: ITEM, read: (text) => [mentionsIn(text), mayHaveMarks(text)] },
  { name: 'findLinks', most: ITEM, read: (text) => findLinks(normalForm(text, 'NFC')) },
  { name: 'lengths', most: ITEM, read: (text) => [weightedLength(text), graphemeLength(text)] },
  {
    name: 'checkRules',
    most: ITEM,
    read: (text) => checkRules(text, { ...noRules, max_hashtags: 1, max_emoji: 1 }, weightedLength),
  },
  { name: 'containsPhrase', most: ITEM, read: (text) => containsPhrase(text, text.slice(1, 201)) },
  { name: 'recognised', most: ITEM, read: (text) => recogniseForm({ kind: 'post', body: text }) },
  { name: 'writtenText', most: ITEM, read: (text) => attempt(() => writtenText(text, 'body')) },
  { name: 'tidyTags', most: MESSAGE, read: (text) => tidyTags([text, text]) },
  {
    name: 'editArticle',
    most: ITEM,
    read: (text) =>
      attempt(() => editArticle({ title: 'a', body: 'a\n\nb' } as never, { body: text })),
  },
  { name: 'fingerprintText', most: ITEM, read: fingerprintText },
  {
    name: 'featuresOf',
    most: ITEM,
    read: (text) => featuresOf({ ...PLAIN, text }, { timeZone: 'UTC', products: ['a'] }),
  },
  { name: 'normalHandle', most: 1_000, read: (text) => attempt(() => normalHandle(text)) },
  {
    name: 'words of a post',
    most: ITEM,
    read: (text) => [wordsOf(text), wordLine(text), termsOf(text), excerpt(text, 200)],
  },
  { name: 'csvLine', most: ITEM, read: (text) => csvLine([text, { text }]) },
]

/** Refusals are answers too. */
function attempt(read: () => unknown): unknown {
  try {
    return read()
  } catch {
    return undefined
  }
}
