//! A remote in memory: it loses answers, dies, lets others act in between, or lies.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::rc::Rc;

use ckpt_sync::{Failure, Incomplete, Key, Listed, NewObject, Remote};

/// The objects of a remote.
pub(super) type Objects = BTreeMap<Key, Vec<u8>>;

/// What goes wrong, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The request is carried out, and the answer is lost.
    LostAnswer,
    /// The client dies before the request.
    DeathBefore,
    /// The client dies after the request was carried out.
    DeathAfter,
}

/// A protection that a remote lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lie {
    /// It replaces objects.
    Overwrites,
    /// It forgets empty objects.
    DropsEmpty,
    /// It acknowledges the second object of the main line and does not keep it.
    KeepsNothing,
}

/// Something that happens between two requests.
pub(super) type Event<'a> = &'a dyn Fn();

/// A remote that all clients share.
pub(super) struct MemoryRemote<'a> {
    pub(super) objects: Rc<RefCell<Objects>>,
    pub(super) fault: Option<(Fault, usize)>,
    pub(super) event: Option<(usize, Event<'a>)>,
    pub(super) lie: Option<Lie>,
    pub(super) requests: usize,
    dead: bool,
}

impl<'a> MemoryRemote<'a> {
    pub(super) fn new(objects: &Rc<RefCell<Objects>>) -> Self {
        Self { objects: Rc::clone(objects), fault: None, event: None, lie: None, requests: 0, dead: false }
    }

    /// Carries out a request, unless something goes wrong.
    fn request<T>(&mut self, act: impl FnOnce(&mut Self) -> Result<T, Failure>) -> Result<T, Failure> {
        let number = self.requests;
        self.requests += 1;
        if let Some((_, event)) = self.event.filter(|(at, _)| *at == number) {
            event();
        }
        let fault = self.fault.filter(|(_, at)| *at == number).map(|(fault, _)| fault);
        self.dead |= fault == Some(Fault::DeathBefore);
        if self.dead {
            return Err(Failure::Refused("dead".to_owned()));
        }
        let answer = act(self);
        match fault {
            Some(Fault::LostAnswer) => Err(Failure::Unknown("lost".to_owned())),
            Some(Fault::DeathAfter) => {
                self.dead = true;
                Err(Failure::Refused("dead".to_owned()))
            }
            _ => answer,
        }
    }
}

impl Remote for MemoryRemote<'_> {
    fn create(&mut self, objects: &[NewObject]) -> Result<(), Incomplete> {
        for (created, NewObject { key, bytes }) in objects.iter().enumerate() {
            let answer = self.request(|remote| {
                let is_second = key.as_str().ends_with("-2.json") && remote.lie == Some(Lie::KeepsNothing);
                if is_second || bytes.is_empty() && remote.lie == Some(Lie::DropsEmpty) {
                    return Ok(());
                }
                let mut objects = remote.objects.borrow_mut();
                if objects.contains_key(key) && remote.lie != Some(Lie::Overwrites) {
                    return Err(Failure::Exists);
                }
                objects.insert(key.clone(), bytes.clone());
                Ok(())
            });
            if let Err(failure) = answer {
                return Err(Incomplete { created, failure });
            }
        }
        Ok(())
    }

    fn list(&mut self, prefix: &str, visit: &mut dyn FnMut(Listed) -> ControlFlow<()>) -> Result<(), Failure> {
        let listed = self.request(|remote| {
            let objects = remote.objects.borrow();
            let listed = objects.iter().filter(|(key, _)| key.as_str().starts_with(prefix));
            Ok(listed.map(|(key, bytes)| Listed { key: key.clone(), size: bytes.len() as u64 }).collect::<Vec<_>>())
        })?;
        for object in listed {
            if visit(object).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn get(&mut self, key: &Key, limit: u64) -> Result<Option<Vec<u8>>, Failure> {
        self.request(|remote| {
            let found = remote.objects.borrow().get(key).cloned();
            match found {
                Some(bytes) if bytes.len() as u64 > limit => Err(Failure::Unusable("too large".to_owned())),
                found => Ok(found),
            }
        })
    }

    fn empty(&mut self, keys: &[Key]) -> Result<(), Failure> {
        for key in keys {
            self.request(|remote| {
                remote.objects.borrow_mut().insert(key.clone(), Vec::new());
                Ok(())
            })?;
        }
        Ok(())
    }
}
