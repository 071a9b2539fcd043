-- Words stand on a shelf for the state of their item: posted, rejected, or open, which is every other state. So a list of a state and a word
-- is one scan of an index, however many items have either. Open states share a shelf: an item passes through several of them, and each move
-- to another shelf writes all of its words anew. `at`: what counts for a posted or rejected item; those of open ones change too often.
alter table item_word add column shelf text not null default 'open', add column at timestamptz;

-- Without its indexes while most rows change. Policies bind the owner of the tables too, so they rest meanwhile.
alter table item_word drop constraint item_word_pkey;
alter table item no force row level security;
alter table item_word no force row level security;
update item_word w set shelf = i.status, at = i.at from item i
  where i.tenant_id = w.tenant_id and i.id = w.item_id and i.status in ('posted', 'rejected');
alter table item force row level security;
alter table item_word force row level security;

alter table item_word
  add primary key (tenant_id, word, shelf, item_id),
  add check (shelf in ('open', 'posted', 'rejected')),
  add check ((shelf = 'open') = (at is null));
create index item_word_time on item_word (tenant_id, word, shelf, at, item_id) where at is not null;
grant update on item_word to tendril_app;

-- Whatever changes an item moves its words, in the same transaction and without a statement of its own.
create function move_words() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if new.status in ('posted', 'rejected') then
    update public.item_word set shelf = new.status, at = new.at where tenant_id = new.tenant_id and item_id = new.id;
  else
    update public.item_word set shelf = 'open', at = null where tenant_id = new.tenant_id and item_id = new.id;
  end if;
  return null;
end $$;
revoke execute on function move_words() from public;
create trigger words_moved after update on item for each row
  when ((old.status in ('posted', 'rejected') or new.status in ('posted', 'rejected')) and (old.status, old.at) is distinct from (new.status, new.at))
  execute function move_words();

-- Articles are few beside posts, so lists of them must not walk the posts.
create index item_article on item (tenant_id, status, id) where kind = 'article';
