/**
 * A workspace with many documents, as reading them would have left it; and the same passages for
 * peers to search.
 */
import type postgres from 'postgres'
import { newId } from '#kernel/ids'
import type { Tenant, World } from '../world.ts'

/** Words of a passage, which make about 1,150 characters. */
const WORDS_OF_PASSAGE = 165
const VOCABULARY = 30_000
const PASSAGES_OF_DOCUMENT = 20
const DOCUMENTS_AT_ONCE = 100

/** Numbers from 0 to 1, the same in each run. */
const numbers = (seed: number) => (): number => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 0x1_0000_0000
}
const next = numbers(7)

const SYLLABLES = [
  'ka',
  'lo',
  'mi',
  'ter',
  'ran',
  'vo',
  'del',
  'si',
  'pu',
  'gra',
  'nel',
  'to',
  'fi',
  'bus',
  'har',
  'we',
]

/** The word of a rank: short ones are frequent, as in a language. */
export const wordAt = (rank: number): string => {
  let [text, left] = ['', rank]
  do {
    text += SYLLABLES[left % SYLLABLES.length]
    left = Math.floor(left / SYLLABLES.length)
  } while (left > 0)
  return `${text}n`
}

const vocabulary = Array.from({ length: VOCABULARY }, (_, rank) => wordAt(rank))

/** A rank by Zipf's law. */
const anyRank = (): number => Math.floor(VOCABULARY ** next()) - 1

const sentence = (): string =>
  `${Array.from({ length: 11 }, () => vocabulary[anyRank()]).join(' ')}.`
const passage = (): string => Array.from({ length: WORDS_OF_PASSAGE / 11 }, sentence).join(' ')

/** The text of a document. */
export const documentText = (): string =>
  Array.from({ length: PASSAGES_OF_DOCUMENT }, passage).join('\n\n')

interface Made {
  id: string
  content: string
}

const addDocuments = async (owner: postgres.Sql, tenant: Tenant, made: Made[]): Promise<void> => {
  const [ids, contents] = [made.map(({ id }) => id), made.map(({ content }) => content)]
  await owner`insert into document (id, tenant_id, file_name, mime_type, content, byte_size, length,
    sha256, metadata, trusted, status, passages,
      configuration, author, created_at, updated_at)
    select id, ${tenant.id}, 'notes-' || id || '.txt', 'text/plain', content, length(content),
      length(content), id, '{}', true, 'ready',
      ${PASSAGES_OF_DOCUMENT}, 'english', '{}', now(), now()
        from unnest(${ids}::uuid[], ${contents}::text[]) d (id, content)`
  await owner`with cut as (
      select id, n - 1 as number, text, sum(length(text) + 2) over (partition by id
        order by n) - length(text) - 2 as start_at
      from unnest(${ids}::uuid[], ${contents}::text[]) d (id, content),
        regexp_split_to_table(content, '\n\n') with ordinality p (text, n)),
    kept as (insert into document_passage (tenant_id, document_id, number, path, start_at, end_at,
      text)
      select ${tenant.id}, id, number, '[]', start_at, start_at + length(text), text from cut)
    insert into peer.passage (tenant_id, document_id, number, text, words)
      select ${tenant.id}, id, number, text, to_tsvector('english', text) from cut`
  await owner`insert into document_word (tenant_id, word, document_id, block, passages)
    select ${tenant.id}, w.lexeme, p.document_id, 0, bit_or(1::bigint << p.number)
      from peer.passage p, unnest(p.words) w
    where p.document_id = any(${ids}::uuid[]) group by w.lexeme, p.document_id`
}

/** Writes rows before the index of their words, which takes a third of the time. */
export const fillDocuments = async (
  { owner }: World,
  tenant: Tenant,
  documents: number,
): Promise<void> => {
  await owner.unsafe(`create schema if not exists peer;
    create table peer.passage (tenant_id uuid not null, document_id uuid not null, number integer not null, text text not null,
      words tsvector not null, primary key (tenant_id, document_id, number));
    alter table peer.passage enable row level security;
    create policy app on peer.passage to tendril_app using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
    grant usage on schema peer to tendril_app; grant select on peer.passage to tendril_app;
    alter table document_word drop constraint document_word_pkey; drop index document_word_document`)
  for (let from = 0; from < documents; from += DOCUMENTS_AT_ONCE)
    await addDocuments(
      owner,
      tenant,
      Array.from({ length: Math.min(DOCUMENTS_AT_ONCE, documents - from) }, () => ({
        id: newId(),
        content: documentText(),
      })),
    )
  await owner.unsafe(`set maintenance_work_mem = '256MB';
    alter table document_word add primary key (tenant_id, word, document_id, block) include (passages);
    create index document_word_document on document_word (tenant_id, document_id);
    create index passage_words on peer.passage using gin (words)`)
  await owner`vacuum analyze document, document_passage, document_word, peer.passage`
}
