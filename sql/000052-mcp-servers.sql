-- Servers of other people's tools, which a workspace connects by the Model Context Protocol.
create table mcp_server (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  name text not null,
  transport text check (transport in ('streamable_http', 'stdio')),
  url text,
  command text,
  args jsonb not null default '[]',
  -- sealed JSON, and bound to the row; null: none
  headers bytea,
  env bytea,
  header_names jsonb not null default '[]',
  env_names jsonb not null default '[]',
  -- of the names of its tools
  tool_prefix text not null,
  enabled boolean not null,
  metadata jsonb not null default '{}',
  -- refused: it cannot be asked as it is configured
  status text not null check (status in ('new', 'ready', 'failing', 'refused')),
  last_error text,
  -- looks in a row that came to nothing
  failures integer not null default 0,
  looked_at timestamptz,
  -- when one of its tools was last called, or a person last decided about one
  used_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id),
  check (enabled = false or status <> 'refused')
) with (fillfactor = 80);
create unique index on mcp_server (tenant_id, tool_prefix);
alter table mcp_server enable row level security;
alter table mcp_server force row level security;
create policy app on mcp_server to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on mcp_server to tendril_app;

-- What a server had at the last look. All of it is text of people outside.
create table mcp_tool (
  id uuid not null,
  tenant_id uuid not null default nullif(current_setting('app.tenant', true), '')::uuid,
  server_id uuid not null,
  -- with the prefix: as the agent and people know it
  name text not null,
  own_name text not null,
  title text not null,
  description text not null,
  parameters jsonb not null,
  read_only_hint boolean not null,
  -- of name, description and schema as the server wrote them, and of where it is: what a rule is bound to
  hash text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (tenant_id, id),
  foreign key (tenant_id, server_id) references mcp_server (tenant_id, id) on delete cascade
);
create unique index on mcp_tool (tenant_id, name);
create index on mcp_tool (tenant_id, server_id);
alter table mcp_tool enable row level security;
alter table mcp_tool force row level security;
create policy app on mcp_tool to tendril_app
  using (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid))
  with check (tenant_id = (select nullif(current_setting('app.tenant', true), '')::uuid));
grant select, insert, update, delete on mcp_tool to tendril_app;

-- A rule for a tool of a server: its server, with which it goes, and the definition that the person has read.
alter table agent_tool_rule add column server_id uuid, add column definition jsonb;
alter table agent_tool_rule
  add foreign key (tenant_id, server_id) references mcp_server (tenant_id, id) on delete cascade;
create index on agent_tool_rule (tenant_id, server_id) where server_id is not null;
